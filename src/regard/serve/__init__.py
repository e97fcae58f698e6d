"""A local service: a page that shows attention and beam search as they happen, and the same as JSON."""
