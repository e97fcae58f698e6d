from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from matplotlib import colormaps
from PIL import Image

from regard.errors import RegardError
from regard.pictures.colours import ATTENTION
from regard.pictures.diagram import Diagram, draw_attention
from regard.pictures.files import render
from regard.pictures.timelapse import save_timelapse


def epoch(number: int, *, rows: int = 2) -> Diagram:
    weights = np.full((rows, 3), (1 - number / 4) / 3)
    weights[:, 0] += number / 4
    return Diagram(("x", "y", "z"), tuple("abcde"[:rows]), weights, title=f"epoch {number}")


def test_every_epoch_is_a_frame_of_one_size_and_the_last_one_stays(tmp_path: Path) -> None:
    path = tmp_path / "lapse.gif"
    save_timelapse([epoch(0), epoch(2, rows=4), epoch(4)], path, seconds_per_frame=0.5)
    with Image.open(path) as film:
        assert film.n_frames == 3
        durations, frames = [], []
        for number in range(3):
            film.seek(number)
            durations.append(film.info["duration"])
            frames.append(np.asarray(film.convert("RGB")))
    assert durations == [500, 500, 3000]
    assert len({frame.shape for frame in frames}) == 1
    assert (frames[0] != frames[2]).any()
    assert [found.name for found in tmp_path.iterdir()] == ["lapse.gif"]


def test_the_scale_is_that_of_the_diagram(tmp_path: Path) -> None:
    words = tuple(f"Wort{number}" for number in range(12))
    weights = np.random.default_rng(1).dirichlet(np.full(12, 0.3), size=(2, 12))
    diagrams = [Diagram(words, words, each, title="epoch") for each in weights]
    save_timelapse(diagrams, tmp_path / "lapse.gif")
    scale = np.rint(255 * colormaps[ATTENTION](np.linspace(0, 1, 256))[:, :3]).astype(int)
    with Image.open(tmp_path / "lapse.gif") as film:
        for number, diagram in enumerate(diagrams):
            film.seek(number)
            drawn = Image.open(BytesIO(render(draw_attention(diagram), "png", dpi=100))).convert("RGB")
            want, got = (np.asarray(picture, dtype=int).reshape(-1, 3) for picture in (drawn, film.convert("RGB")))
            places = [np.flatnonzero((want == colour).all(axis=1)) for colour in scale]
            assert sum(len(place) > 0 for place in places) > 200
            assert max(np.abs(got[place] - want[place]).max() for place in places if len(place)) < 6
            assert (got[(want == 255).all(axis=1)] == 255).all()


@pytest.mark.parametrize(("count", "name"), [(0, "a.gif"), (2, "a.mp4")])
def test_a_wrong_request_is_refused(tmp_path: Path, count: int, name: str) -> None:
    with pytest.raises(RegardError) as caught:
        save_timelapse([epoch(number) for number in range(count)], tmp_path / name)
    assert str(caught.value) == f"time-lapse: got {count} diagrams and '{name}', want at least one and a .gif name."
