"""Experiments: sweeps over settings, and the paper's Figure 1."""
