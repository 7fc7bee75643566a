"""Engines as processes: what is asked, who answers, what is kept."""
