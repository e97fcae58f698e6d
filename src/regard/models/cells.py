"""Recurrent cells, as whole sequences (torch's networks, and `gru` in training) and step by step."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

import torch
from torch import nn

from regard.exact import PIECE, is_shared_out, tanh_
from regard.models import gru
from regard.models.dropout import Dropout
from regard.models.repeated import repeated
from regard.parts import CELLS
from regard.types import Float, Tensor

State = tuple[Tensor, ...]
"""What a decoder remembers; every tensor has one row per sentence or hypothesis in its first dimension."""


class Cell(ABC):
    """A kind of recurrent cell: torch's sequence network, and the same step written out."""

    network: Callable[..., nn.RNNBase]
    gates: int
    """Blocks of size H in the projections of input and state."""
    tensors: int
    """Tensors in its state."""

    @staticmethod
    @abstractmethod
    def step(x: Float[Tensor, "B GH"], h: Float[Tensor, "B GH"], state: State) -> State:
        """Take one step from the projected input, the projected last output and the last state."""


class GRU(Cell):
    """Gated recurrent unit: reset and update gates."""

    network = nn.GRU
    gates = 3
    tensors = 1

    @staticmethod
    def step(x: Float[Tensor, "B GH"], h: Float[Tensor, "B GH"], state: State) -> State:
        """n = tanh(x_n + r * h_n); s' = (1 - z) n + z s."""
        size = x.shape[1] // 3
        (x_gates, x_n), (h_gates, h_n) = (part.split((2 * size, size), dim=1) for part in (x, h))
        r, z = torch.sigmoid(x_gates + h_gates).chunk(2, dim=1)
        n = tanh_(torch.addcmul(x_n, r, h_n))
        return (torch.lerp(n, state[0].to(n.dtype), z),)


class LSTM(Cell):
    """Long short-term memory: input, forget and output gates around a cell state."""

    network = nn.LSTM
    gates = 4
    tensors = 2

    @staticmethod
    def step(x: Float[Tensor, "B GH"], h: Float[Tensor, "B GH"], state: State) -> State:
        """c' = f c + i g; s' = o tanh(c')."""
        i, f, g, o = (x + h).chunk(4, dim=1)
        cell = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * tanh_(g)
        return torch.sigmoid(o) * torch.tanh(cell), cell


class RNN(Cell):
    """Plain tanh cell: s' = tanh(W_x x + W_s s)."""

    network = nn.RNN
    gates = 1
    tensors = 1

    @staticmethod
    def step(x: Float[Tensor, "B GH"], h: Float[Tensor, "B GH"], state: State) -> State:
        """s' = tanh(W_x x + W_s s)."""
        return (tanh_(x + h),)


def take_step(cell: type[Cell], x: Float[Tensor, "B GH"], h: Float[Tensor, "B GH"], state: State) -> State:
    """Take one step, a few rows at a time where more of them would be shared out among threads."""
    if not is_shared_out(x):
        return cell.step(x, h, state)
    pieces = zip(*(tensor.split(max(1, PIECE // x.shape[1])) for tensor in (x, h, *state)), strict=True)
    done = [cell.step(some_x, some_h, tuple(before)) for some_x, some_h, *before in pieces]
    return tuple(torch.cat(parts) for parts in zip(*done, strict=True))


def start(cell: type[Cell], sentence: Float[Tensor, "B H"], layers: int) -> State:
    """Begin every layer with the sentence vector; a cell state begins at 0."""
    first = sentence[:, None, :].expand(-1, layers, -1)
    return first, *(torch.zeros_like(first) for _ in range(cell.tensors - 1))


def by_layer(states: list[State]) -> State:
    """Return the states of all layers as one, with layers in the second dimension of every tensor."""
    if len(states) == 1:  # nothing to copy
        return tuple(tensor[:, None] for tensor in states[0])
    return tuple(torch.stack(tensors, dim=1) for tensors in zip(*states, strict=True))


class Steps(nn.Module):
    """One direction of a layer of torch's network, step by step.

    What a search asks for has one step, and a sequence network costs more to start than to compute. Longer inputs take
    the same steps, so that what a search found is read again with the very numbers it was found with.
    """

    def __init__(self, cell: type[Cell], weights: Iterable[nn.Parameter]) -> None:
        super().__init__()
        self.cell = cell
        from_input, from_state, input_bias, state_bias = weights
        self.with_input, self.with_state = _linear(from_input, input_bias), _linear(from_state, state_bias)

    def forward(
        self, inputs: Float[Tensor, "B T _"], state: State, *, are_projected: bool = False
    ) -> tuple[Float[Tensor, "B T H"], State]:
        """Read all inputs, or what ``with_input`` has made of them, from a state."""
        outputs = []
        for x in (inputs if are_projected else self.with_input(inputs)).unbind(1):
            state = take_step(self.cell, x, self.with_state(state[0]), state)
            outputs.append(state[0])
        return torch.stack(outputs, dim=1) if len(outputs) > 1 else outputs[0][:, None], state


def by_steps(cell: type[Cell], network: nn.Module) -> list[Steps]:
    """Return the directions of a layer."""
    assert isinstance(network, nn.RNNBase)
    return [Steps(cell, weights) for weights in network.all_weights]


class Directions(nn.Module):
    """All directions of a layer of torch's network, which take their steps together, as rows of one batch."""

    def __init__(self, cell: type[Cell], network: nn.Module) -> None:
        super().__init__()
        self.cell = cell
        directions = by_steps(cell, network)
        self.with_input = nn.ModuleList(each.with_input for each in directions)
        self.with_state = nn.ModuleList(each.with_state for each in directions)

    def forward(self, *inputs: Float[Tensor, "B T E"]) -> tuple[Float[Tensor, "B T H"], ...]:
        """Let every direction read its own inputs, from zeros."""
        batch, count = len(inputs[0]), len(inputs)
        projected = torch.cat([project(some) for project, some in zip(self.with_input, inputs, strict=True)])
        hidden = projected.shape[2] // self.cell.gates
        state: State = (projected.new_zeros(count * batch, hidden),) * self.cell.tensors
        outputs = []
        for x in projected.unbind(1):
            rows = state[0].view(count, batch, hidden).unbind()
            h = torch.cat([project(some) for project, some in zip(self.with_state, rows, strict=True)])
            state = take_step(self.cell, x, h, state)
            outputs.append(state[0])
        return torch.stack(outputs, dim=1).view(count, batch, len(outputs), hidden).unbind()


def _linear(weight: nn.Parameter, bias: nn.Parameter) -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[0], device="meta")
    layer.weight, layer.bias = weight, bias
    return layer


class Sequence(nn.Module):
    """Recurrent layers over inputs that are all known beforehand."""

    def __init__(self, cell: str, inputs: int, hidden: int, *, layers: int, dropout: Dropout) -> None:
        super().__init__()
        self.cell: type[Cell] = CELLS[cell]
        sizes = [inputs, *[hidden] * (layers - 1)]
        self.layers = nn.ModuleList(self.cell.network(size, hidden, batch_first=True) for size in sizes)
        self.steps = nn.ModuleList()
        """The same layers, once `prepare_steps` was called."""
        self.dropout = dropout

    def prepare_steps(self) -> None:
        """Read step by step from now on."""
        self.steps = nn.ModuleList(steps for network in self.layers for steps in by_steps(self.cell, network))

    def start(self, sentence: Float[Tensor, "B H"]) -> State:
        """Return the state before the first input."""
        return start(self.cell, sentence, len(self.layers))

    @property
    def first(self) -> nn.Linear:
        """What projects the inputs, once `prepare_steps` was called."""
        first = self.steps[0].with_input
        assert isinstance(first, nn.Linear)
        return first

    def forward(
        self, inputs: Float[Tensor, "B T _"], state: State, *, are_projected: bool = False
    ) -> tuple[Float[Tensor, "B T H"], State]:
        """Read all inputs from a state, or step by step what ``first`` has made of them."""
        ends: list[State] = []
        outputs = inputs
        for number, network in enumerate(self.layers):
            assert isinstance(network, nn.RNNBase)
            outputs = self.dropout(outputs) if number else outputs
            before = tuple(tensor[:, number].contiguous() for tensor in state)
            if self.steps:
                outputs, after = self.steps[number](outputs, before, are_projected=are_projected and number == 0)
            else:
                outputs, after = self._run(network, outputs, before)
            ends.append(after)
        return outputs, by_layer(ends)

    @staticmethod
    def _run(network: nn.RNNBase, inputs: Float[Tensor, "B T E"], state: State) -> tuple[Tensor, State]:
        if gru.is_worth_it(network, inputs):
            outputs = gru.read(network, inputs, state[0][None])
            return outputs, (outputs[:, -1],)
        first, *rest = (tensor[None] for tensor in state)
        outputs, last = network(inputs, (first, *rest) if rest else first)
        return outputs, tuple(tensor[0] for tensor in (last if rest else (last,)))


class Stack(nn.Module):
    """Recurrent layers taken step by step; part of the first layer's input is known beforehand.

    ``first`` does the work that needs no previous step for all steps at once; a ``loop`` does the rest.
    """

    def __init__(self, cell: str, known: int, hidden: int, *, fed: int, layers: int, dropout: Dropout) -> None:
        super().__init__()
        self.cell: type[Cell] = CELLS[cell]
        self.layers = layers
        width = self.cell.gates * hidden
        self.known = nn.Linear(known, width)
        self.fed = nn.ModuleList(nn.Linear(fed if i == 0 else hidden, width, bias=i > 0) for i in range(layers))
        self.recurrent = nn.ModuleList(nn.Linear(hidden, width) for _ in range(layers))
        self.dropout = dropout
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -(hidden**-0.5), hidden**-0.5)

    def start(self, sentence: Float[Tensor, "B H"]) -> State:
        """Return the state before the first input."""
        return start(self.cell, sentence, self.layers)

    @property
    def first(self) -> nn.Linear:
        """What projects the known part of the input."""
        return self.known


class Loop:
    """Steps through all layers of a stack, one after the other."""

    def __init__(self, stack: Stack) -> None:
        self.cell, self.dropout = stack.cell, stack.dropout
        self.layers = [(repeated(fed), repeated(own)) for fed, own in zip(stack.fed, stack.recurrent, strict=True)]

    def step(
        self, projected: Float[Tensor, "B GH"], fed: Float[Tensor, "B C"], state: State
    ) -> tuple[Float[Tensor, "B H"], State]:
        """Take one step; return the top layer's output and the new state."""
        new: list[State] = []
        output = fed
        for number, (with_input, with_state) in enumerate(self.layers):
            below = tuple(tensor[:, number] for tensor in state)
            x = with_input(self.dropout(output)) if number else with_input(output) + projected
            new.append(take_step(self.cell, x, with_state(below[0]), below))
            output = new[-1][0]
        return output, by_layer(new)
