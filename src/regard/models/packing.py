"""Weights as a search reads them fastest: two bytes a number, packed for products with few rows."""

import torch
from torch import nn

from regard.models.cells import Sequence
from regard.models.seq2seq import Seq2Seq
from regard.types import Float, Tensor

ENGINES = ("x86", "fbgemm")
"""Of torch's engines for packed products, those that have half precision; other processors have others."""
LARGEST = torch.finfo(torch.half).max


def pack_for_search(model: Seq2Seq) -> Seq2Seq:
    """Make a model ready to translate and return it: single steps of its recurrent networks, and packed weights.

    A search multiplies few rows with large matrices, and most of its time goes into reading these. Weights are rounded
    to half precision in place, so that a translation is scored with the numbers it was found with.
    """
    for module in [*model.modules()]:
        if isinstance(module, Sequence):
            module.prepare_steps()
    if torch.backends.quantized.engine in ENGINES:
        _pack_linear_layers(model)
    return model


def _pack_linear_layers(model: nn.Module) -> None:
    for parent in [*model.modules()]:
        for name, child in parent.named_children():
            if type(child) is nn.Linear and child.weight.abs().max() <= LARGEST:  # neither too large nor NaN
                parent.register_module(name, Packed(child))


class Packed(nn.Linear):
    """A linear layer with weights rounded to half precision; it reads and computes in single precision, on the CPU."""

    def __init__(self, layer: nn.Linear) -> None:
        nn.Module.__init__(self)
        self.in_features, self.out_features = layer.in_features, layer.out_features
        self.weight, self.bias = layer.weight, layer.bias
        with torch.no_grad():
            self.weight.copy_(self.weight.half())
        self.packed = torch.ops.quantized.linear_prepack_fp16(self.weight.detach(), self.bias)

    def forward(self, inputs: Float[Tensor, "*any F"]) -> Float[Tensor, "*any V"]:
        """Multiply with the packed weights; what needs gradients with the rounded ones themselves."""
        if torch.is_grad_enabled():
            return super().forward(inputs)
        product: Tensor = torch.ops.quantized.linear_dynamic_fp16(inputs, self.packed)
        return product
