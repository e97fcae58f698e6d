"""A linear layer that every step of a loop asks: in training its weights learn from all steps in one product.

torch multiplies for the gradient of the weights at every step, and adds it to that of the steps after it.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.autograd.function import once_differentiable

from regard.types import Float, Tensor

Seen = dict[int, list[tuple[Tensor, Tensor]]]
"""Inputs of the steps, and the gradients of what came out, by the number of the backward pass.

A pass for other gradients alone, such as those of the inputs, does not come to the end and leaves its own behind.
"""


def repeated(layer: nn.Module) -> Callable[[Float[Tensor, "B I"]], Float[Tensor, "B O"]]:
    """Return what computes the same as the layer, for the steps of one loop."""
    return _Repeated(layer) if type(layer) is nn.Linear and torch.is_grad_enabled() else layer


class _Repeated:
    """A layer's steps, whose gradients meet at one end."""

    def __init__(self, layer: nn.Linear) -> None:
        device = layer.weight.device.type
        dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else layer.weight.dtype
        self.weight = layer.weight.detach().to(dtype)
        self.bias = None if layer.bias is None else layer.bias.detach().to(dtype)
        self.seen: Seen = {}
        self.end: Tensor = _End.apply(layer.weight, layer.bias, self.seen)  # type: ignore[no-untyped-call]

    def __call__(self, inputs: Float[Tensor, "B I"]) -> Float[Tensor, "B O"]:
        parts = inputs.to(self.weight.dtype), self.end, self.weight, self.bias, self.seen
        outputs: Tensor = _Step.apply(*parts)  # type: ignore[no-untyped-call]
        return outputs


class _Step(torch.autograd.Function):
    """One step. Its gradient goes to its inputs; that of the weights is left to `_End`."""

    @staticmethod
    def forward(
        context: Any, inputs: Tensor, end: Tensor, weight: Tensor, bias: Tensor | None, seen: Seen
    ) -> Float[Tensor, "B O"]:
        context.save_for_backward(inputs, weight)
        context.seen = seen
        return nn.functional.linear(inputs, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(context: Any, *gradients: Any) -> Any:
        inputs, weight = context.saved_tensors
        context.seen.setdefault(torch._C._current_graph_task_id(), []).append((inputs, gradients[0]))
        is_asked_for = context.needs_input_grad[0]
        return gradients[0] @ weight if is_asked_for else None, weight.new_empty(0), None, None, None


class _End(torch.autograd.Function):
    """Comes before all steps, and so after all of them on the way back."""

    @staticmethod
    def forward(context: Any, weight: Tensor, bias: Tensor | None, seen: Seen) -> Float[Tensor, "0"]:
        context.seen = seen
        context.has_bias = bias is not None
        return weight.new_empty(0)

    @staticmethod
    @once_differentiable
    def backward(context: Any, *_: Any) -> Any:
        seen = context.seen[torch._C._current_graph_task_id()]
        context.seen.clear()
        inputs, slopes = (torch.cat(parts) for parts in zip(*seen, strict=True))
        return slopes.t() @ inputs, slopes.sum(dim=0) if context.has_bias else None, None
