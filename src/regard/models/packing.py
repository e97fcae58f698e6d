"""Weights as a search reads them fastest: packed for products with few rows, in as few bytes as the processor likes.

A search multiplies few rows with large matrices, and most of its time goes into these products. Whatever the number
format, a row has the same bits whichever other rows are multiplied with it: a translation must not depend on its batch,
and rounding would make a visible difference out of a last digit.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import nn

from regard.device import has_tiles, longest_short_product, missing_rows
from regard.exact import LANES
from regard.models.cells import Sequence
from regard.models.seq2seq import Seq2Seq
from regard.types import Float, Int, Tensor

ENGINES = ("x86", "fbgemm")
"""Of torch's engines for packed products, those that have half precision; other processors have others."""
LARGEST = torch.finfo(torch.half).max
MOST = 127
"""Largest number in a byte, of either sign."""
MOST_PROJECTIONS = 1 << 24
"""Numbers that may be kept to look up what a decoder's first layer makes of a word."""
BLOCK = 32
"""Rows of logits that fit a core's own cache."""


def pack_for_search(model: Seq2Seq) -> Seq2Seq:
    """Make a model ready to translate and return it: recurrent networks step by step, and packed weights.

    Where the processor has instructions for it, layers multiply in bfloat16 and the output layer in bytes; elsewhere
    weights are kept in half precision. Parameters stay as they are. A packed model can neither learn nor be copied.
    """
    model.eval()
    if model.is_exact:
        return model
    for module in [*model.modules()]:
        if isinstance(module, Sequence):
            module.prepare_steps()
    layers = [module for module in model.modules() if isinstance(module, nn.Linear)]
    has_halves = torch.backends.quantized.engine in ENGINES
    if not has_halves or not all(layer.weight.abs().max() <= LARGEST for layer in layers):  # neither too large nor NaN
        return model
    model.is_exact = True
    model.encoder.prepare_steps()
    if longest_short_product() and all(layer.in_features % LANES == 0 for layer in layers):
        model.output = ByteLinear(model.output)
        _replace_linear_layers(model, Bfloat16Linear, least=2)  # a single number has no use for being short
    _replace_linear_layers(model, HalfLinear)
    reader = model.decoder.reader
    if reader is not None and model.decoder.embedding.num_embeddings * reader.first.out_features <= MOST_PROJECTIONS:
        model.decoder.prepare_projections()
    return model


def _replace_linear_layers(model: nn.Module, kind: "type[HalfLinear | Bfloat16Linear]", *, least: int = 1) -> None:
    for parent in [*model.modules()]:
        for name, child in parent.named_children():
            if type(child) is nn.Linear and child.out_features >= least:
                parent.register_module(name, kind(child))


class _Packed(nn.Linear):
    """A linear layer that has packed its weights."""

    def __init__(self, layer: nn.Linear) -> None:
        nn.Module.__init__(self)
        self.in_features, self.out_features = layer.in_features, layer.out_features
        self.weight, self.bias = layer.weight, layer.bias


class HalfLinear(_Packed):
    """Weights in half precision; computes in single precision."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__(layer)
        self.packed = torch.ops.quantized.linear_prepack_fp16(self.weight.detach(), self.bias)

    def forward(self, inputs: Float[Tensor, "*any F"]) -> Float[Tensor, "*any V"]:
        """Multiply with the packed weights."""
        multiply = torch.ops.quantized.linear_dynamic_fp16
        missing = missing_rows(inputs.shape.numel() // self.in_features)
        product: Tensor
        if not missing:
            product = multiply(inputs, self.packed)
            return product
        rows = inputs.reshape(-1, self.in_features)
        more = torch.cat((rows, rows[:missing])) if len(rows) > 1 else rows.expand(1 + missing, -1)
        product = multiply(more, self.packed)[: len(rows)]
        return product.view(*inputs.shape[:-1], self.out_features)


class Bfloat16Linear(_Packed):
    """Inputs and weights in bfloat16, sums in single precision, rounded to bfloat16 at the end.

    Where the processor does not add up as many numbers in one go, it goes on from a part of the sum that is rounded.
    """

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__(layer)
        parts = -(-self.in_features // longest_short_product())
        self.size = -(-self.in_features // (parts * LANES)) * LANES
        weights = self.weight.detach().bfloat16().split(self.size, dim=1)
        self.packed = [torch.ops.mkldnn._reorder_linear_weight(weight.contiguous()) for weight in weights]
        self.short_bias = None if self.bias is None else self.bias.detach().bfloat16()

    def forward(self, inputs: Float[Tensor, "*any F"]) -> Float[Tensor, "*any V"]:
        """Multiply with the packed weights; the result is in single precision again."""
        if inputs.shape.numel() == self.in_features:  # oneDNN has other ways, with other last digits, for a single row
            return self.forward(inputs.reshape(1, -1).expand(2, -1))[:1].view(*inputs.shape[:-1], -1)
        first, *others = inputs.split(self.size, dim=-1) if len(self.packed) > 1 else (inputs,)
        multiply = torch.ops.mkldnn._linear_pointwise
        product: Tensor = multiply(first.bfloat16(), self.packed[0], self.short_bias, "none", [], "")
        for part, packed in zip(others, self.packed[1:], strict=True):
            product = multiply.binary(part.bfloat16(), product, packed, None, "add")
        return product.float()


class ByteLinear(_Packed):
    """Inputs and weights as whole numbers of at most 127, a scale for each row; sums are exact.

    bfloat16 would round the logits themselves, of 20 to a sixteenth, and make ties of words that differ.
    """

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__(layer)
        scale, numbers = _in_bytes(self.weight.detach())
        self.scale = scale.squeeze(1)
        self.multiply = _by_tiles(numbers, self.scale) if has_tiles() else partial(torch._int_mm, mat2=numbers.t())

    def forward(self, inputs: Float[Tensor, "R F"]) -> Float[Tensor, "R V"]:
        """Multiply in bytes; the result is in single precision."""
        row_scale, numbers = _in_bytes(inputs)
        sums, bias = self.multiply(numbers), self.bias.detach()
        is_scaled = sums.is_floating_point()
        product = sums if is_scaled else torch.empty(sums.shape, dtype=inputs.dtype)
        for block, exact, scale in zip(*(part.split(BLOCK) for part in (product, sums, row_scale)), strict=True):
            if not is_scaled:
                torch.mul(exact, self.scale, out=block)
            torch.addcmul(bias, block, scale, out=block)
        return product


def _by_tiles(
    weights: Int[Tensor, "V F"], scale: Float[Tensor, " V"]
) -> Callable[[Int[Tensor, "R F"]], Float[Tensor, "R V"]]:
    """Return the product with weights that are packed once, scaled; without tiles torch would compute it in a loop."""
    packed = torch.ops.onednn.qlinear_prepack(weights, None)
    zeros = torch.zeros(len(weights), dtype=torch.int32)

    def multiply(numbers: Int[Tensor, "R F"]) -> Float[Tensor, "R V"]:
        rows = numbers.expand(2, -1).contiguous() if len(numbers) == 1 else numbers  # a single row is a plain loop too
        product: Tensor = torch.ops.onednn.qlinear_pointwise(
            rows, 1.0, 0, packed, scale, zeros, None, 1.0, 0, torch.float32, "none", [], ""
        )
        return product[: len(numbers)]

    return multiply


def _in_bytes(rows: Float[Tensor, "R F"]) -> tuple[Float[Tensor, "R 1"], Int[Tensor, "R F"]]:
    """Return what to multiply the whole numbers with, and these."""
    scale = rows.abs().amax(dim=1, keepdim=True).div_(MOST).clamp_(min=torch.finfo(rows.dtype).tiny)
    return scale, (rows / scale).round_().to(torch.int8)
