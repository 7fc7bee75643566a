"""Figures and pages from results."""
