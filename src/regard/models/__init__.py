"""Encoders, decoders and the model that joins them; `build` is the only reader of the model's configuration."""
