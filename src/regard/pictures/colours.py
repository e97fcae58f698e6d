"""Colours that survive grey printing and colour blindness."""

from collections.abc import Sequence

ATTENTION = "viridis"
"""Brighter is more attention; lightness grows evenly, so a grey print or a colour-blind eye sees the same picture."""

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#3b3b3b", "#8c6d00")
"""Okabe and Ito's palette, with two darker ends; series differ in line style and marker as well."""

INK = "#1a1a1a"
QUIET = "#6b6b6b"
FAINT = "#c8c8c8"


def ink_on(rgb: Sequence[float]) -> str:
    """Return black or white, whichever has the higher contrast (WCAG 2) with an sRGB colour."""
    light = luminance(rgb)
    return "#000000" if (light + 0.05) / 0.05 > 1.05 / (light + 0.05) else "#ffffff"


def luminance(rgb: Sequence[float]) -> float:
    """Return the relative luminance (0 black, 1 white) of an sRGB colour with channels from 0 to 1."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
