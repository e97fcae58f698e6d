"""Pictures of what a model does, from plain arrays and words; nothing here knows of models or runs.

``diagram``   the attention diagram, heads or models side by side, to PNG, SVG and PDF
``timelapse`` the same sentence through the epochs as an animation
``terminal``  the diagram in a terminal;  ``html`` in a browser or a notebook
``curves``    losses, scores and entropies with their spread over seeds
``tree``      a beam search, with what it kept and what it threw away
"""
