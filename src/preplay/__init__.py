"""What is worth memorizing before a game: best books, certified bounds, equilibria of preparation."""

__version__ = "0.1.0"
