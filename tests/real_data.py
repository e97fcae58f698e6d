"""Where the tests find real corpora, which are never part of the repository."""

import os
from pathlib import Path

import pytest


def multi30k_folder() -> Path:
    """Return the directory with the German and English files of Multi30k, or skip the test and say why."""
    places = [Path(root) for root in (os.environ.get("REGARD_DATA"),) if root]
    places += [place / "multi30k" for place in places]
    places += [Path(__file__).resolve().parents[2] / "shared" / "multi30k"]
    for place in places:
        if (place / "train.de.gz").is_file():
            return place
    pytest.skip(f"Multi30k is not in {', '.join(map(str, places))}; set REGARD_DATA to run this test")
