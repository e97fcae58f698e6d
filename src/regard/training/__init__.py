"""Training: `fit` yields events; terminal, log and checkpoint are its consumers."""
