"""Shapes in signatures are checked while the tests run; one thread each, since tests run side by side; Ctrl-C works."""

import os
import signal

os.environ.setdefault("OMP_NUM_THREADS", "1")
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores Ctrl-C for what it runs in the background

from jaxtyping import install_import_hook

SHAPED = ("regard.attention", "regard.models", "regard.search", "regard.training", "regard.data.batches")

install_import_hook(SHAPED, "beartype.beartype")

import pytest
import torch


@pytest.fixture(autouse=True)
def _same_random_numbers() -> None:
    torch.manual_seed(0)
