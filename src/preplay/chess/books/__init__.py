"""Books on the board: lines, look-up, Polyglot, PGN, names."""
