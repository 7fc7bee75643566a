"""How players move: engines that randomize, and people as their games show them."""
