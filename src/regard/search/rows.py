"""The rows a model is asked about: a few hypotheses of every sentence that is still open.

A search keeps W hypotheses for each of B sentences: the places 0 .. B x W - 1, those of sentence b from b x W on.
Sentences that are finished cost nothing any more; of an open one, dead places may cost a row of the model too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Generic

import torch

from regard.data.vocabulary import BOS, EOS, PAD, SPECIALS
from regard.errors import RegardError
from regard.models.seq2seq import Step
from regard.search.rules import NEVER, Rules, forbid_end, force, pad
from regard.search.stepper import E, State, Stepper, select
from regard.types import Bool, Float, Int, Tensor

IMPOSSIBLE = -1e9
"""Log-probability of what the model finds impossible: finite, so that sums of it still compare."""

BLOCK = 64
"""Words that are compared among themselves first."""

Prefix = Sequence[Sequence[int]]
"""The beginning of each sentence's translation as token ids; its log-probability and length count like any other."""

Watch = Callable[[str, Tensor], None]
"""Told the reason and the log-probabilities after each rule, the model's own first."""


@dataclass(frozen=True, slots=True)
class Rows(Generic[E]):
    """What the model is asked about next."""

    place: Int[Tensor, " R"]
    row: Int[Tensor, " P"]
    """The row of each place; 0 for a place that has none."""
    first: Int[Tensor, "B 1"]
    """The first place of each sentence."""
    length: int
    """Length of the hypotheses after the next token."""
    seen: Int[Tensor, "R L"]
    """BOS and the tokens so far, or the last token alone where no constraint asks for more."""
    state: State
    source: E

    @property
    def are_all_places(self) -> bool:
        """Whether every place has a row; they are in order."""
        return len(self.place) == len(self.row)


class Expander(Generic[E]):
    """Asks the model for continuations and applies the rules to them; ``longest`` overrides theirs."""

    def __init__(
        self,
        model: Stepper[E],
        source: E,
        *,
        width: int,
        rules: Rules,
        longest: Int[Tensor, " B"] | None = None,
        prefix: Prefix | None = None,
        imposed: Float[Tensor, "B N T S"] | None = None,
    ) -> None:
        self.model = model
        self.source = source
        self.width = width
        self.constraints = rules.constraints
        self.sentences, self.device = source.is_token.shape[0], source.is_token.device
        self.prefix = pad(_words_only(prefix or [()] * self.sentences), self.device)
        assert self.prefix.shape[0] == self.sentences
        source_lengths = source.is_token.sum(dim=1)
        begun = (self.prefix != PAD).sum(dim=1)
        self.longest = torch.maximum(rules.longest.of(source_lengths), begun + 1) if longest is None else longest
        self.shortest = torch.minimum(rules.shortest.of(source_lengths), self.longest)
        self.soonest_cut = int(self.longest.min()) if self.sentences else 0
        """The first length at which a hypothesis is cut off."""
        self._short_until = int(self.shortest.max()) if self.sentences else 0
        self._no_words = torch.tensor((PAD, BOS), device=self.device)
        self.imposed = _checked(imposed, source.is_token)

    def start(self) -> Rows[E]:
        """Return the first row of every sentence."""
        place = torch.arange(self.sentences, device=self.device) * self.width
        source = self.source.select(place // self.width)
        seen = torch.full_like(place, BOS)[:, None]
        return Rows(place, self._inverse(place), place[:, None], 1, seen, self.model.start(source), source)

    def step(self, rows: Rows[E], watch: Watch | None = None) -> Step:
        """Ask the model, and set the log-probability of what is not allowed to -inf."""
        t, imposed = rows.length - 1, None
        if self.imposed is not None and t < self.imposed.shape[2]:
            imposed = self.imposed[:, :, t].index_select(0, rows.place // self.width)
        stepped = self.model.step(rows.seen[:, -1], rows.state, rows.source, imposed)
        log_probs = stepped.log_probs.clamp_(min=IMPOSSIBLE)
        forced = None
        if t < self.prefix.shape[1] - 1:
            token = self.prefix[:, t].index_select(0, rows.place // self.width)
            forced = token, log_probs.gather(1, token[:, None]).squeeze(1)
        tell = watch or (lambda *_: None)
        tell("model", log_probs)
        log_probs.index_fill_(1, self._no_words, NEVER)
        tell("not a word", log_probs)
        for constraint in self.constraints:
            constraint.forbid(log_probs, rows.seen)
            tell(constraint.reason, log_probs)
        if rows.length < self._short_until:
            forbid_end(log_probs, rows.length < self.shortest.index_select(0, rows.place // self.width))
            tell("too short", log_probs)
        if forced:
            force(log_probs, *forced)
            tell("not the prefix", log_probs)
        return Step(log_probs, stepped.weights, stepped.state)

    def move(
        self,
        rows: Rows[E],
        state: State,
        *,
        origin: Int[Tensor, " P"],
        token: Int[Tensor, " P"],
        is_alive: Bool[Tensor, " P"],
    ) -> Rows[E]:
        """Let every place continue the hypothesis of a row with a token."""
        place = self._places(is_alive, rows.place)
        is_same, is_all = place is rows.place, len(place) == len(is_alive)
        origin, token = (origin, token) if is_all else (origin[place], token[place])
        seen = token[:, None]
        if self.constraints:
            seen = torch.cat((rows.seen[origin], seen), dim=1)
        row = rows.row if is_same else self._inverse(place)
        source = rows.source if is_same else self.source.select(place // self.width)
        return Rows(place, row, rows.first, rows.length + 1, seen, select(state, origin), source)

    def _places(self, is_alive: Bool[Tensor, " P"], current: Int[Tensor, " R"]) -> Int[Tensor, " R2"]:
        """Choose the places that get a row: those of open sentences, or where most of these are dead the living.

        Whole sentences share a copy of the source, which costs more to copy than a few dead rows cost to compute; so up
        to 1/8 rows too many are kept rather than choosing anew.
        """
        if len(current) == len(is_alive) and is_alive.all():
            return current
        is_open = is_alive.view(-1, self.width).any(dim=1, keepdim=True).expand(-1, self.width).reshape(-1)
        counts = torch.stack((is_alive.sum(), is_alive[current].sum(), is_open.sum()))
        alive, alive_now, in_open = counts.tolist()
        is_chosen, count = (is_open, in_open) if 2 * alive >= in_open else (is_alive, alive)
        if alive == alive_now and 8 * count >= 7 * len(current) and alive:
            return current
        return is_chosen.nonzero().squeeze(1)

    def _inverse(self, place: Int[Tensor, " R"]) -> Int[Tensor, " P"]:
        row = torch.zeros(self.sentences * self.width, dtype=torch.long, device=self.device)
        row[place] = torch.arange(len(place), device=self.device)
        return row


def top(log_probs: Float[Tensor, "R V"], count: int) -> tuple[Float[Tensor, "R K"], Int[Tensor, "R K"]]:
    """Return the best few words of each row, best first.

    They are in the few blocks with the best best words: the vocabulary is read once, and little is sorted.
    """
    rows, words = log_probs.shape
    whole = words - words % BLOCK
    if whole < 2 * count * BLOCK:
        best, word = log_probs.topk(count, dim=1)
        return best, word
    blocks = log_probs[:, :whole].unflatten(1, (-1, BLOCK))
    chosen = blocks.amax(dim=2).topk(count, dim=1).indices[:, :, None]
    within, rest = _numbers(whole, words, chosen.device)
    numbers = torch.cat(((chosen * BLOCK + within).flatten(1), rest.expand(rows, -1)), dim=1)
    best, place = log_probs.gather(1, numbers).topk(count, dim=1)
    return best, numbers.gather(1, place)


@cache
def _numbers(whole: int, words: int, device: torch.device) -> tuple[Int[Tensor, " K"], Int[Tensor, " L"]]:
    """Return the numbers of words within a block, and those of the words that are in none."""
    return torch.arange(BLOCK, device=device), torch.arange(whole, words, device=device)


def _words_only(prefix: Prefix) -> Prefix:
    for number, tokens in enumerate(prefix, 1):
        for token in tokens:
            if token in (PAD, BOS, EOS):
                raise RegardError(
                    f"search.prefix: got {SPECIALS[token]} in the beginning of sentence {number}, want words only."
                )
    return prefix


def _checked(
    imposed: Float[Tensor, "_B N T _S"] | None, is_token: Bool[Tensor, "B S"]
) -> Float[Tensor, "B N T S"] | None:
    if imposed is None:
        return None
    (sentences, _, _, positions), (wanted, tokens) = imposed.shape, is_token.shape
    if (sentences, positions) != (wanted, tokens):
        raise RegardError(
            f"search.imposed: got attention of {sentences} sentences over {positions} source tokens, "
            f"want {wanted} sentences over {tokens}."
        )
    is_given = ~imposed.isnan()
    if (is_given.any(dim=3) & ~is_given.all(dim=3)).any() or (imposed[is_given] < 0).any():
        raise RegardError("search.imposed: want rows of weights >= 0, or of NaN alone where attention is computed.")
    return imposed.to(is_token.device)
