"""Speeds as ratios: both sides measured in one run, by turns, on the same data."""
