"""One sentence through the epochs as an animated GIF; as a still, ``draw_side_by_side`` shows the same diagrams."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from PIL import Image

from regard.errors import RegardError
from regard.pictures.diagram import Diagram, draw_attention
from regard.pictures.files import render, write


def save_timelapse(diagrams: Sequence[Diagram], path: Path, *, seconds_per_frame: float = 0.7) -> None:
    """Write an animation that holds its last diagram; give all diagrams the same words, so that only colours move."""
    if path.suffix.lower() != ".gif" or not diagrams:
        raise RegardError(
            f"time-lapse: got {len(diagrams)} diagrams and '{path.name}', want at least one and a .gif name."
        )
    frames = [Image.open(BytesIO(render(draw_attention(each), "png"))).convert("RGB") for each in diagrams]
    size = (max(frame.width for frame in frames), max(frame.height for frame in frames))
    first, *rest = (_pad(frame, size) for frame in frames)
    duration = [round(1000 * seconds_per_frame)] * len(rest) + [3000]
    out = BytesIO()
    first.save(out, "GIF", save_all=True, append_images=rest, duration=duration, loop=0)
    write(path, out.getvalue())


def _pad(frame: Image.Image, size: tuple[int, int]) -> Image.Image:
    canvas = Image.new("RGB", size, "white")
    canvas.paste(frame)
    return canvas.quantize(256, dither=Image.Dither.NONE)
