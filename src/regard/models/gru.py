"""A GRU's layer in training on a processor, both directions at once, with a backward pass of its own.

torch records every operation of every step and multiplies step by step for the gradients of the weights too. Here the
factors of all steps are computed at once, a step of the backward pass is one product and three passes over the state,
and the gradients of the weights are one product over all steps.

    r, z = sigmoid(W_x x + W_h h),  n = tanh(x_n + r * h_n),  h' = (1 - z) n + z h
"""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import torch
from torch import nn
from torch.autograd.function import once_differentiable

from regard.models.directions import backwards, turn
from regard.types import Float, Int, Tensor


def is_worth_it(network: nn.RNNBase, inputs: Tensor) -> bool:
    """Say whether `read` computes a network faster than torch: a layer of a GRU on a processor, in training."""
    is_layer = type(network) is nn.GRU and network.num_layers == 1 and network.bias and network.batch_first
    return is_layer and inputs.device.type == "cpu" and torch.is_grad_enabled()


def read(
    network: nn.RNNBase,
    inputs: Float[Tensor, "B T E"],
    first: Float[Tensor, "D B H"] | None = None,
    lengths: Int[Tensor, " B"] | None = None,
) -> Float[Tensor, "B T DH"]:
    """Return the states at all steps, as torch's network does for a batch of sentences of the given lengths.

    The second direction begins at the last token of each sentence. States past the end of a sentence are 0.
    """
    dtype = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else inputs.dtype
    weights = [_together(parts, dtype) for parts in zip(*network.all_weights, strict=True)]
    batch, steps = inputs.shape[:2]
    if first is None:
        first = inputs.new_zeros(len(weights[0]), batch, network.hidden_size)
    parts = backwards(lengths, batch, steps), inputs.to(dtype), first.to(dtype), *weights
    states: Tensor = _Layer.apply(*parts)  # type: ignore[no-untyped-call]
    if lengths is None or bool((lengths == steps).all()):
        return states
    return states.masked_fill(torch.arange(steps)[:, None] >= lengths[:, None, None], 0)


def _together(directions: Sequence[Tensor], dtype: torch.dtype) -> Float[Tensor, "D *any"]:
    parts = [part.to(dtype) for part in directions]
    return torch.stack(parts) if len(parts) > 1 else parts[0][None]


class _Layer(torch.autograd.Function):
    """All directions of a layer. Sizes: D directions, T steps, B sentences, H units, E inputs."""

    @staticmethod
    def forward(
        context: Any,
        turned: Int[Tensor, "B T"],
        inputs: Float[Tensor, "B T E"],
        first: Float[Tensor, "D B H"],
        from_input: Float[Tensor, "D GH E"],
        from_state: Float[Tensor, "D GH H"],
        input_bias: Float[Tensor, "D GH"],
        state_bias: Float[Tensor, "D GH"],
    ) -> Float[Tensor, "B T DH"]:
        directions, batch, size = first.shape
        steps = inputs.shape[1]
        gates, candidate = slice(0, 2 * size), slice(2 * size, None)
        x = _by_step([inputs] * directions, turned).flatten(1, 2)
        bias = input_bias.clone()
        bias[:, gates] += state_bias[:, gates]
        projected = torch.baddbmm(bias[:, None], x, from_input.mT).view(directions, steps, batch, 3 * size)
        # The bias of the candidate is inside the product with the reset gate, so it cannot be added beforehand.
        inner_bias = state_bias[:, None, candidate]
        states = first.new_empty(directions, steps + 1, batch, size)
        states[:, 0] = first
        reset_update = first.new_empty(directions, steps, batch, 2 * size)
        candidates, inner = (first.new_empty(directions, steps, batch, size) for _ in range(2))
        matrix, product = from_state.mT, first.new_empty(directions, batch, 3 * size)
        h_gates, h_candidate = product[..., gates], product[..., candidate]
        by_step = (projected[..., gates], projected[..., candidate], reset_update, candidates, inner)
        r, z = reset_update.chunk(2, dim=3)
        rows = zip(*(part.unbind(1) for part in (*by_step, r, z, states[:, :-1], states[:, 1:])), strict=True)
        for x_gates, x_candidate, gate, new, inside, reset, update, before, after in rows:
            torch.bmm(before, matrix, out=product)
            torch.add(x_gates, h_gates, out=gate).sigmoid_()
            torch.add(h_candidate, inner_bias, out=inside)
            torch.addcmul(x_candidate, reset, inside, out=new).tanh_()
            torch.lerp(new, before, update, out=after)
        context.save_for_backward(turned, x, from_input, from_state, states, reset_update, candidates, inner)
        return torch.cat(_by_sentence(states[:, 1:], turned), dim=2)

    @staticmethod
    @once_differentiable
    def backward(context: Any, *gradients: Any) -> Any:
        turned, x, from_input, from_state, states, reset_update, candidates, inner = context.saved_tensors
        directions, steps, batch, size = candidates.shape
        r, z = reset_update.chunk(2, dim=3)
        # What a change of h' does to x_n, and to the products with the state: reset, update, candidate.
        to_candidate = torch.ops.aten.tanh_backward(1 - z, candidates)
        factors = candidates.new_empty(directions, steps, batch, 3, size)
        torch.mul(to_candidate, r, out=factors[..., 2, :])
        through_sigmoid = torch.ops.aten.sigmoid_backward.grad_input
        through_sigmoid(states[:, :-1] - candidates, z, grad_input=factors[..., 1, :])
        through_sigmoid(to_candidate * inner, r, grad_input=factors[..., 0, :])
        slopes, outer = torch.empty_like(factors), torch.empty_like(candidates)
        given = _by_step(gradients[0].split(size, dim=2), turned)
        joined = slopes.flatten(3)
        rows = list(zip(*(part.unbind(1) for part in (given, z, factors, slopes, joined, outer)), strict=True))
        from_later = torch.zeros_like(states[:, 0])
        for grad, update, factor, slope, join, out in reversed(rows):
            torch.add(grad, from_later, out=out)
            torch.mul(out[:, :, None], factor, out=slope)
            from_later = torch.baddbmm(out * update, join, from_state)
        of_state_product = joined.flatten(1, 2)
        before = states[:, :-1].flatten(1, 2)
        for_state, for_state_bias = torch.bmm(of_state_product.mT, before), of_state_product.sum(dim=1)
        # Gates add both products, so only the candidate differs: of_state_product is used up, and its memory reused.
        torch.mul(outer, to_candidate, out=slopes[..., 2, :])
        of_input_product, candidate = of_state_product, slice(2 * size, None)
        for_input, for_input_bias = torch.bmm(of_input_product.mT, x), for_state_bias.clone()
        torch.sum(of_input_product[..., candidate], dim=1, out=for_input_bias[:, candidate])
        for_x = torch.bmm(of_input_product, from_input).view(directions, steps, batch, -1)
        inputs = reduce(torch.add, _by_sentence(for_x, turned))
        return None, inputs, from_later, for_input, for_state, for_input_bias, for_state_bias


def _by_step(ways: Sequence[Float[Tensor, "B T _"]], turned: Int[Tensor, "B T"]) -> Float[Tensor, "D T B _"]:
    """Return what each direction sees, step by step."""
    first, *others = ways
    return torch.stack([way.transpose(0, 1) for way in (first, *(turn(way, turned) for way in others))])


def _by_sentence(ways: Float[Tensor, "D T B _"], turned: Int[Tensor, "B T"]) -> list[Float[Tensor, "B T _"]]:
    """Undo `_by_step`."""
    first, *others = ways.transpose(1, 2).unbind(0)
    return [first, *(turn(way, turned) for way in others)]
