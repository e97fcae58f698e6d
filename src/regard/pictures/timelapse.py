"""One sentence through the epochs as an animated GIF; as a still, ``draw_side_by_side`` shows the same diagrams."""

from collections.abc import Mapping, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from PIL import Image

from regard.data.words import join_words
from regard.errors import RegardError
from regard.pictures.colours import ATTENTION
from regard.pictures.diagram import Diagram, draw_attention
from regard.pictures.files import render, write
from regard.run import Run


def epochs_of(run: Run, number: int = 1) -> list[Diagram]:
    """Return a validation sentence that training watched, counted from 1 (short, middling, long), after each epoch."""
    seen = run.attention()
    if not seen:
        raise unseen(run)
    if not 1 <= number <= len(seen[0]["sentences"]):
        raise RegardError(f"sentence: got {number}, want 1 to {len(seen[0]['sentences'])}, which training watched.")
    return [_diagram(epoch["sentences"][number - 1], f"epoch {round(epoch['epoch'], 2)}") for epoch in seen]


def unseen(run: Run) -> RegardError:
    """Say why there is nothing to see of a run's attention during its training."""
    if run.config.model.attention == "none":
        return RegardError(f"{run.path}: has no attention to show (model.attention is none).")
    if not run.can_resume:
        return RegardError(
            f"{run.path}: does not know its training, as is so with a model in the box or an export; want the run that "
            "the training made."
        )
    return RegardError(f"{run.path}: has no attention.jsonl, which is written after each epoch; train it again.")


def _diagram(sentence: Mapping[str, Any], title: str) -> Diagram:
    links = None if sentence["links"] is None else frozenset((s, t) for s, t in sentence["links"])
    source, target = sentence["source"], sentence["target"]
    texts = sentence.get("texts") or (join_words(source), join_words(target))  # runs of before have the words alone
    return Diagram(source, target, sentence["weights"], links, title=title, texts=(texts[0], texts[1]))


def stills(diagrams: Sequence[Diagram], count: int = 6) -> list[Diagram]:
    """Choose so many diagrams, evenly, the first and the last among them."""
    last = len(diagrams) - 1
    return [diagrams[i] for i in dict.fromkeys(round(last * k / (count - 1)) for k in range(count))]


def save_timelapse(diagrams: Sequence[Diagram], path: Path, *, seconds_per_frame: float = 0.7) -> None:
    """Write an animation that holds its last diagram; give all diagrams the same words, so that only colours move."""
    if path.suffix.lower() != ".gif" or not diagrams:
        raise RegardError(
            f"time-lapse: got {len(diagrams)} diagrams and '{path.name}', want at least one and a .gif name."
        )
    frames = [Image.open(BytesIO(render(draw_attention(each), "png", dpi=100))).convert("RGB") for each in diagrams]
    first, *rest = _alike(frames)
    duration = [round(1000 * seconds_per_frame)] * len(rest) + [3000]
    out = BytesIO()
    first.save(out, "GIF", save_all=True, append_images=rest, duration=duration, loop=0)
    write(path, out.getvalue())


def _alike(frames: list[Image.Image]) -> list[Image.Image]:
    """Give all frames one size and one palette: only what changes is stored, and no colour flickers."""
    size = max(frame.width for frame in frames), max(frame.height for frame in frames)
    sheets = [Image.new("RGB", size, "white") for _ in frames]
    for sheet, frame in zip(sheets, frames, strict=True):
        sheet.paste(frame)
    return [sheet.quantize(palette=_palette(), dither=Image.Dither.NONE) for sheet in sheets]


@cache
def _palette() -> Image.Image:
    """Return 256 colours: the whole scale, tints of it for numbers and rules on the cells, and greys for words.

    Colours chosen by how often they occur would leave gaps in the scale.
    """
    scale, few = (colormaps[ATTENTION](np.linspace(0, 1, count))[:, :3] for count in (128, 32))
    tints = [few + (1 - few) * white for white in (0.12, 0.4, 0.75)]
    greys = np.linspace(0, 1, 32)[:, None].repeat(3, axis=1)
    palette = Image.new("P", (1, 1))
    palette.putpalette(np.rint(255 * np.concatenate([scale, *tints, greys])).astype(np.uint8).tobytes())
    return palette
