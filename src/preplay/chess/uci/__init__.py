"""A UCI engine that plays its book and then its base engine."""
