"""TopDown over a geographic hierarchy, at the size of a census (B-A5, B-A6, K section 7)."""
