"""Attention: the equations as functions (`functional`), and one module per mechanism."""
