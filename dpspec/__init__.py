"""dpspec: differential privacy specifications as objects that are written, verified, compared and explained."""
