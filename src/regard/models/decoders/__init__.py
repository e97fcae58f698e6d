"""Decoders: one file for each way to wire attention into a recurrent network."""
