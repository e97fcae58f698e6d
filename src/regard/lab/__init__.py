"""The thought experiments and the pen-and-paper exercises, run."""
