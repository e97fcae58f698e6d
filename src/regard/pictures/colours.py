"""Colours that survive grey printing and colour blindness."""

ATTENTION = "cividis"
"""Brighter is more attention; lightness grows evenly, so a grey print or a colour-blind eye sees the same picture."""

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#3b3b3b", "#8c6d00")
"""Okabe and Ito's palette, with two darker ends; series differ in line style and marker as well."""

INK = "#1a1a1a"
QUIET = "#6b6b6b"
FAINT = "#c8c8c8"
