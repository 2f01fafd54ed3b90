"""What follows from how a mechanism is made: which changes of records there are in a universe, and what they cost."""
