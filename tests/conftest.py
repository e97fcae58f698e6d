"""Shapes in signatures are checked while the tests run; one thread each, since tests run side by side."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from jaxtyping import install_import_hook

SHAPED = ("regard.attention", "regard.models", "regard.search", "regard.training", "regard.data.batches")

install_import_hook(SHAPED, "beartype.beartype")

import pytest
import torch


@pytest.fixture(autouse=True)
def _same_random_numbers() -> None:
    torch.manual_seed(0)
