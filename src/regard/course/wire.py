"""Tensors as JSON, so that nothing a student's process sends is ever executed."""

import base64
from typing import Any

import torch
from torch import Tensor

Message = dict[str, Any]


def encode(value: object) -> Message | None:
    """Describe a tensor by shape and float32 bytes, anything else by the name of its type."""
    if value is None:
        return None
    if not isinstance(value, Tensor):
        return {"what": type(value).__name__}
    data = value.detach().to("cpu", torch.float32).contiguous().numpy().tobytes()
    return {"shape": list(value.shape), "data": base64.b64encode(data).decode("ascii")}


def decode(message: Message | None) -> Tensor | None:
    """Return the tensor again; None for what was none."""
    if message is None or "data" not in message:
        return None
    data = bytearray(base64.b64decode(message["data"]))
    shape = [int(size) for size in message["shape"]]
    return torch.frombuffer(data, dtype=torch.float32).reshape(shape) if data else torch.zeros(shape)
