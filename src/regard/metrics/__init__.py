"""Metrics: each a row of numbers per segment and what their sum means, with its signature."""
