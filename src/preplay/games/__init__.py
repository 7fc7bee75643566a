"""Rules of games: tabular files, synthetic trees, and every suitable OpenSpiel game."""
