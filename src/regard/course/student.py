"""A student's class as seen from the grader: built, filled and called through questions, answered in tensors."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from regard.course.wire import Message, decode, encode

if TYPE_CHECKING:
    from regard.course.contracts import Contract, Setting

Shape = tuple[int, ...]
CLOSE = 2e-3


class Raised(Exception):
    """The student's code raised; the error is told, not passed on."""

    def __init__(self, error: Message) -> None:
        super().__init__(error["text"])
        self.error = error
        self.told = f"{error['type']}: {error['text'].partition(chr(10))[0][:120]}"


class Unfit(Exception):
    """A result whose shape cannot be read as what it should be."""

    def __init__(self, got: object, wanted: object) -> None:
        super().__init__()
        self.error = {"what": "A result", "got": got, "wanted": wanted}
        self.told = f"it returns {got} where {wanted} was expected"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call returned."""

    outputs: list[Tensor | None]
    form: str
    changed: bool
    trace: Message
    seconds: float


@dataclass(frozen=True, slots=True)
class Layout:
    """How a student's results differ from the wanted shapes in ways that can be undone."""

    is_swapped: bool = False
    is_value_transposed: bool = False
    are_weights_transposed: bool = False
    has_other_size: bool = False
    """The value has another number of features than the encoder outputs."""


class Student:
    """One class, one contract, one setting; every number comes from the student's process."""

    def __init__(self, ask: Callable[[Message], Message], name: str, contract: "Contract") -> None:
        self._ask = ask
        self._name = name
        self.contract = contract
        self.setting = contract.setting
        self.takes_key_size = True
        self.layout = Layout()
        self.refused: list[str] = []
        self.weights: Message = {}
        """Shapes of the registered weights by name, names of others, and whether all can be set."""
        self._filling: Message = {}

    def ask(self, request: Message) -> Message:
        """Put a question; raise what the student's code raised."""
        reply = self._ask(request)
        self.refused = reply.get("refused", [])
        if "error" in reply:
            raise Raised(reply["error"])
        ok: Message = reply["ok"]
        return ok

    def start(self, setting: "Setting") -> Answer:
        """Build the class, call it once as it is, then fill its weights."""
        self.setting = setting
        self._build()
        answer = self.call(*self.draw(seed=0), trace=True)
        self.fill()
        return answer

    def draw(self, *, seed: int, batch: int | None = None, length: int | None = None) -> tuple[Tensor, Tensor]:
        """Draw queries and memory."""
        generator = torch.Generator().manual_seed(seed)
        query, memory = self.contract.sizes(self.setting)
        rows = batch or self.setting.batch
        e = torch.randn(rows, length or self.setting.length, memory, generator=generator)
        return torch.randn(rows, self.setting.steps, query, generator=generator), e

    def _build(self) -> None:
        arguments, inputs = self.contract.arguments(self.setting), self.draw(seed=0)
        self.ask({"op": "build", "class": self._name, "arguments": arguments, "inputs": self._pack(*inputs)})

    def fill(self, *, constant: float | None = None, bias: float = 0.0, outside: bool = True, seed: int = 1) -> None:
        """Set all weights to random numbers, or matrices to one number and vectors to another."""
        self._filling = {"op": "fill", "constant": constant, "bias": bias, "outside": outside, "seed": seed}
        self.weights = self.ask(self._filling)

    def _pack(self, h: Tensor, e: Tensor) -> list[Message | None]:
        return [encode(tensor) for tensor in self.contract.pack(h, e, self.setting)]

    def _renew(self) -> None:
        if self.setting.is_fresh:
            self._build()
            self.ask(self._filling)

    def call(
        self, h: Tensor, e: Tensor, *, trace: bool = False, seed: int = 0, moves: dict[str, Tensor] | None = None
    ) -> Answer:
        """Call with queries [B, T, H] and memory [B, S, M], laid out as the assignment does, and weights moved."""
        self._renew()
        steps = {name: encode(step) for name, step in (moves or {}).items()}
        request = {"op": "call", "inputs": self._pack(h, e), "trace": trace, "seed": seed, "moves": steps}
        reply = self.ask(request | {"no_grad": self.setting.is_without_grad})
        return Answer(**reply | {"outputs": [decode(output) for output in reply["outputs"]]})

    def gradient(self, h: Tensor, e: Tensor, cotangents: list[Tensor]) -> list[Tensor | None]:
        """Return the gradients of the sum of outputs times cotangents, by inputs and by weights."""
        self._renew()
        request = {"op": "gradient", "inputs": self._pack(h, e), "cotangents": [encode(x) for x in cotangents]}
        return [decode(gradient) for gradient in self.ask(request)["gradients"]]

    def attend(self, h: Tensor, e: Tensor, *, seed: int = 0) -> tuple[Tensor, Tensor]:
        """Return value [B, T, C] and weights [B, N, T, S], whatever the student's layout."""
        return self.read(self.call(h, e, seed=seed), h, e)

    def read(self, answer: Answer, h: Tensor, e: Tensor) -> tuple[Tensor, Tensor]:
        """Undo the layout of an answer."""
        first, second = answer.outputs if len(answer.outputs) == 2 else (None, None)
        if first is None or second is None:
            raise Unfit(f"{len(answer.outputs)} results", "two tensors")
        value, weights = (second, first) if self.layout.is_swapped else (first, second)
        wanted_value, wanted_weights = self.contract.shapes(h, e)
        if self.layout.has_other_size:
            wanted_value = (*wanted_value[:-1], max(value.numel() // max(math.prod(wanted_value[:-1]), 1), 1))
        value = _fit(value, wanted_value, is_transposed=self.layout.is_value_transposed)
        weights = _fit(weights, wanted_weights, is_transposed=self.layout.are_weights_transposed)
        heads = wanted_weights[1] if len(wanted_weights) == 4 else 1
        return value.reshape(len(e), -1, value.shape[-1]), weights.reshape(len(e), heads, -1, e.shape[1])

    def log_weights(self, h: Tensor, e: Tensor) -> Tensor:
        """Return log weights [N, S] of one query [H] on one sentence [S, M], alone in its batch."""
        asks_itself = len(self.contract.inputs) == 1
        memory = torch.cat([h[None], e]) if asks_itself else e
        queries = memory if asks_itself else h[None]
        _, weights = self.attend(*(x.expand(self.setting.rows, -1, -1) for x in (queries, memory)))
        return weights[0, :, 0, int(asks_itself) :].log()

    def adapt(self, **changes: object) -> None:
        """Change the setting for all further calls."""
        self.setting = replace(self.setting, **changes)  # type: ignore[arg-type]


def _fit(tensor: Tensor, wanted: Shape, *, is_transposed: bool) -> Tensor:
    if tensor.numel() != math.prod(wanted):
        raise Unfit(list(tensor.shape), list(wanted))
    if is_transposed:
        tensor = tensor.squeeze()
        tensor = tensor.permute(*reversed(range(tensor.ndim)))
    return tensor.reshape(wanted)


def near(a: Tensor, b: Tensor, within: float = CLOSE) -> bool:
    """Say whether two results agree as well as float32 lets them."""
    return a.shape == b.shape and bool((a - b).abs().max() < within)


def same(a: tuple[Tensor, Tensor], b: tuple[Tensor, Tensor]) -> bool:
    """Say whether values and weights agree."""
    return all(near(x, y) for x, y in zip(a, b, strict=True))
