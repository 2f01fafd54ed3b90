"""Datasets made of events, elements or weighted records, and the units that go with them."""
