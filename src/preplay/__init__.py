"""What is worth memorizing before a game."""
