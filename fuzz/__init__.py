"""Hostile input for every reader: `make fuzz`."""
