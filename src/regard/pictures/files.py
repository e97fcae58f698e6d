"""Figures to files: PNG, SVG and PDF by suffix, the same bytes for the same picture, never half a file."""

from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from regard.disk import writing
from regard.errors import RegardError

_METADATA = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None, "Producer": None}}
# Text stays text in an SVG, so that it can be searched and copied, and the reader's browser shapes any script.
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "regard",
    "pdf.fonttype": 42,
    "font.sans-serif": ["DejaVu Sans"],
}
_DPI = 150
_LARGEST = 10_000  # pixels a side


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, SVG or PDF, as the suffix says."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in _METADATA:
        raise RegardError(f"picture file: got '{path.name}', want a name that ends in .png, .svg or .pdf.")
    write(path, render(figure, kind))


def render(figure: Figure, kind: str, *, dpi: float = _DPI) -> bytes:
    """Return the bytes of a figure as ``png``, ``svg`` or ``pdf``."""
    out = BytesIO()
    dpi = min(dpi, _LARGEST / max(figure.get_size_inches()))
    with rc_context(_SETTINGS):
        figure.savefig(out, format=kind, dpi=dpi, metadata=_METADATA[kind])
    return out.getvalue()


def write(path: Path, content: bytes) -> None:
    """Write a file in one step: it is there whole or not at all."""
    try:
        with writing(path) as place:
            place.write_bytes(content)
    except OSError as error:
        raise RegardError(f"{path}: cannot be written ({error.strerror}); choose another place.") from error
