"""The written-out cells are torch's cells."""

import pytest
import torch
from torch import nn

from regard.models.cells import Loop, Sequence, Stack
from regard.models.dropout import Dropout

TORCH = {"gru": nn.GRU, "lstm": nn.LSTM, "rnn": nn.RNN}


def as_torch(stack: Stack, cell: str, known: int, fed: int, hidden: int) -> nn.RNNBase:
    """Give torch's network the weights of a stack: its input is [known, fed]."""
    network = TORCH[cell](known + fed, hidden, stack.layers, batch_first=True)
    for layer in range(stack.layers):
        if layer == 0:
            weight = torch.cat((stack.known.weight, stack.fed[0].weight), dim=1)
            bias = stack.known.bias
        else:
            weight, bias = stack.fed[layer].weight, stack.fed[layer].bias
        getattr(network, f"weight_ih_l{layer}").data = weight.data
        getattr(network, f"bias_ih_l{layer}").data = bias.data
        getattr(network, f"weight_hh_l{layer}").data = stack.recurrent[layer].weight.data
        getattr(network, f"bias_hh_l{layer}").data = stack.recurrent[layer].bias.data
    return network


@pytest.mark.parametrize("cell", list(TORCH))
@pytest.mark.parametrize("layers", [1, 2])
def test_a_stack_computes_what_torch_computes(cell: str, layers: int) -> None:
    batch, steps, known, fed, hidden = 2, 3, 4, 5, 6
    stack = Stack(cell, known, hidden, fed=fed, layers=layers, dropout=Dropout(0.0))
    network = as_torch(stack, cell, known, fed, hidden)
    inputs, sentence = torch.randn(batch, steps, known + fed), torch.randn(batch, hidden)
    state = stack.start(sentence)
    projected = stack.first(inputs[:, :, :known])
    outputs, loop = [], Loop(stack)
    for t in range(steps):
        output, state = loop.step(projected[:, t], inputs[:, t, known:], state)
        outputs.append(output)
    first = sentence.expand(layers, -1, -1).contiguous()
    wanted, _ = network(inputs, (first, torch.zeros_like(first)) if cell == "lstm" else first)
    torch.testing.assert_close(torch.stack(outputs, dim=1), wanted)


def test_a_sequence_goes_on_where_it_stopped() -> None:
    network = Sequence("lstm", 4, 6, layers=2, dropout=Dropout(0.0))
    inputs, state = torch.randn(2, 5, 4), network.start(torch.randn(2, 6))
    whole, _ = network(inputs, state)
    first, middle = network(inputs[:, :2], state)
    second, _ = network(inputs[:, 2:], middle)
    torch.testing.assert_close(torch.cat((first, second), dim=1), whole)
