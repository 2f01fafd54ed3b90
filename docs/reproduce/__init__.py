"""The pages of docs/reproductions, one module for each."""

from reproduce import census, counts, inference, membership, tolerated

PAGES = (counts.page, tolerated.page, census.page, inference.page, membership.page)
