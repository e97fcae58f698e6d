"""How probable a model finds given translations."""

from contextlib import nullcontext

import torch
from torch import nn

from regard.data.batches import Batch
from regard.models.decoders.base import Decoded
from regard.models.seq2seq import Seq2Seq
from regard.types import Float, Tensor

CHUNK = 1024


def read_batch(model: Seq2Seq, batch: Batch) -> Decoded:
    """Run the whole of a batch through a model, up to the features before its output layer."""
    source = model.encode(batch.source, batch.is_source)
    return model.decode(batch.target_in, model.start(source), source)


@torch.inference_mode()
def token_log_probs(
    model: Seq2Seq, batch: Batch, *, precision: torch.dtype = torch.float32
) -> tuple[Float[Tensor, "B T"], Float[Tensor, "B N T S"]]:
    """Return the log-probability of every target token (0 on padding), and the attention while reading it."""
    with autocast(batch.source.device, precision):
        decoded = read_batch(model, batch)
        chosen = _chosen(model.output, decoded.features[batch.is_target], batch.target_out[batch.is_target])
    log_probs = torch.zeros(batch.target_out.shape, device=chosen.device)
    log_probs[batch.is_target] = chosen
    return log_probs, decoded.weights


def _chosen(output: nn.Linear, features: Tensor, targets: Tensor) -> Tensor:
    chunks = [
        torch.log_softmax(output(rows).float(), dim=1).gather(1, gold[:, None]).squeeze(1)
        for rows, gold in zip(features.split(CHUNK), targets.split(CHUNK), strict=True)
    ]
    return torch.cat(chunks) if chunks else features.new_zeros(0)


def autocast(device: torch.device, precision: torch.dtype) -> "torch.autocast | nullcontext[None]":
    """Compute matrix products in the given precision."""
    return nullcontext() if precision == torch.float32 else torch.autocast(device.type, dtype=precision)
