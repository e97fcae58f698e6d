"""A whole search as a tree: everything that was weighed, and why it was kept or not."""

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from regard.search.rules import NEVER
from regard.search.trellis import Choice
from regard.types import Bool, Float, Int, Tensor

KEPT, FINISHED, CUT = "kept", "finished", "too long"
CANNOT_WIN, BEAM_FULL = "cannot win", "beam full"


@dataclass(frozen=True, slots=True)
class Expansion:
    """A hypothesis continued with one token."""

    id: int
    """Number within the tree."""
    parent: int | None
    """Number of the expansion that is continued; none at the beginning of the sentence."""
    step: int
    """Length of the hypothesis, this token included."""
    token: int
    log_prob: float
    """Of the token, as the model gives it."""
    total: float
    """Of all tokens."""
    rank: int
    """Place by total among the candidates of the sentence at this step, from 0; forbidden ones come last."""
    fate: str
    """kept, finished, too long (cut at the greatest length), cannot win, beam full, or the rule that forbids it."""
    score: float | None
    """The normalised score of a hypothesis that ended here."""

    @property
    def is_kept(self) -> bool:
        """Whether it was continued or is a hypothesis of its own."""
        return self.fate in {KEPT, FINISHED, CUT}


@dataclass(frozen=True, slots=True)
class Tree:
    """All expansions of one sentence, parents first. ``dataclasses.asdict`` makes it JSON."""

    expansions: tuple[Expansion, ...]

    def tokens(self, expansion: Expansion) -> tuple[int, ...]:
        """Return the hypothesis that an expansion is the end of."""
        backwards = [expansion.token]
        while expansion.parent is not None:
            expansion = self.expansions[expansion.parent]
            backwards.append(expansion.token)
        return tuple(reversed(backwards))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the choices of one step."""

    choice: Choice
    score: Float[Tensor, "B W"] | None
    """None while nothing has ended."""
    is_end: Bool[Tensor, "B W"]
    """Ended with EOS."""
    is_cut: Bool[Tensor, "B W"]
    """Open at the greatest length."""
    is_alive: Bool[Tensor, "B W"]
    """To be continued."""

    def fate(self, sentence: int, slot: int) -> tuple[str, float | None]:
        """Return what happened to a choice, and its score if it ended."""
        at = (sentence, slot)
        if self.score is not None and (self.is_end[at] or self.is_cut[at]):
            return FINISHED if self.is_end[at] else CUT, float(self.score[at])
        return KEPT if self.is_alive[at] else CANNOT_WIN, None


class Recorder:
    """Pass a new one to a beam search to see its trees; it is slow, and the search finds the same without it.

    Of every row it notes as many of the best allowed tokens as the beam is wide, and the forbidden ones among as many
    of the model's own favourites.
    """

    def __init__(self) -> None:
        self._trees: dict[int, list[Expansion]] = defaultdict(list)
        self._ids: dict[int, int] = {}
        self._told: list[tuple[str, Tensor]] = []

    def tree(self, sentence: int = 0) -> Tree:
        """Return the search of one sentence of the batch."""
        return Tree(tuple(self._trees[sentence]))

    def watch(self, reason: str, log_probs: Float[Tensor, "R V"]) -> None:
        """Remember what the model gave, which is told first, and what each rule left of it."""
        self._told.append((reason, log_probs.clone()))

    def add(self, place: Int[Tensor, " R"], total: Float[Tensor, "B W"], step: int, outcome: Outcome) -> None:
        """Note one step of all sentences; ``total`` is what the places had before it."""
        width = total.shape[1]
        slots = _slots(outcome.choice)
        candidates: dict[int, list[_Candidate]] = defaultdict(list)
        for row, (at, base) in enumerate(zip(place.tolist(), total.flatten()[place].tolist(), strict=True)):
            if base > NEVER:
                candidates[at // width] += self._row(row, at, base, width=width)
        ids: dict[int, int] = {}
        for sentence, found in candidates.items():
            tree = self._trees[sentence]
            found.sort(key=lambda c: (c.why is not None, slots.get((c.place, c.token), width), -c.total))
            for rank, c in enumerate(found):
                slot = slots.get((c.place, c.token))
                fate, score = (c.why or BEAM_FULL, None) if slot is None else outcome.fate(sentence, slot)
                if fate == KEPT and slot is not None:
                    ids[sentence * width + slot] = len(tree)
                parent = self._ids.get(c.place)
                tree.append(Expansion(len(tree), parent, step, c.token, c.log_prob, c.total, rank, fate, score))
        self._ids, self._told = ids, []

    def _row(self, row: int, place: int, base: float, *, width: int) -> list["_Candidate"]:
        """Return the continuations of a row that are worth a note."""
        raw, left = self._told[0][1][row], self._told[-1][1][row]
        most = min(width, len(raw))
        allowed = [(token, None) for token in left.topk(most).indices.tolist() if left[token] > NEVER]
        favoured = [token for token in raw.topk(most).indices.tolist() if left[token] == NEVER]
        forbidden = [(t, next(why for why, after in self._told[1:] if after[row, t] == NEVER)) for t in favoured]
        return [_Candidate(place, t, float(raw[t]), base + float(raw[t]), why) for t, why in allowed + forbidden]


class _Candidate(NamedTuple):
    place: int
    token: int
    log_prob: float
    total: float
    why: str | None


def _slots(choice: Choice) -> dict[tuple[int, int], int]:
    """Return where each chosen continuation (parent, token) was put."""
    width = choice.total.shape[1]
    columns = (choice.parent, choice.token, choice.total)
    rows = zip(*(column.flatten().tolist() for column in columns), strict=True)
    return {(parent, token): i % width for i, (parent, token, total) in enumerate(rows) if total > NEVER}
