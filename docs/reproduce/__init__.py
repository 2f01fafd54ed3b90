"""The pages of docs/reproductions, one module for each."""

from reproduce import allocation, census, counts, inference, membership, semantics, tolerated

PAGES = (semantics.page, allocation.page, census.page, counts.page, tolerated.page, inference.page, membership.page)
