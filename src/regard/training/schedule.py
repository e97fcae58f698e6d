"""Courses of the learning rate after the warm-up: each maps progress and steps to a factor of the highest rate."""

import math

from regard.parts import SCHEDULES


def constant(progress: float, step: int, warmup: int) -> float:
    """Stay at the highest rate."""
    return 1.0


def linear(progress: float, step: int, warmup: int) -> float:
    """Fall in a straight line to 0 at the end."""
    return max(0.0, 1.0 - progress)


def cosine(progress: float, step: int, warmup: int) -> float:
    """Fall along half a cosine to 0 at the end."""
    return 0.5 * (1.0 + math.cos(math.pi * min(1.0, progress)))


def inverse_sqrt(progress: float, step: int, warmup: int) -> float:
    """Fall with the square root of the steps, as in the Transformer's recipe."""
    return math.sqrt(max(1, warmup) / max(1, warmup, step))


def rate(name: str, *, highest: float, progress: float, step: int, warmup: int) -> float:
    """Return the learning rate of a step (counted from 1) when ``progress`` of the training, 0 to 1, is done."""
    rising = min(1.0, step / warmup) if warmup else 1.0
    course: float = SCHEDULES[name](progress, step, warmup)
    return highest * rising * course
