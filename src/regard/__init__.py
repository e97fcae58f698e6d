"""regard: sequence-to-sequence models whose attention you can see."""

__version__ = "0.1.0"
