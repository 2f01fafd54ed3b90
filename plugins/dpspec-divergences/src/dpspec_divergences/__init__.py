"""dpspec plugin."""
