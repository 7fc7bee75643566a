"""Values by playing games: roll-outs, adaptive ones, sharpened decisions, streams, time shares."""
