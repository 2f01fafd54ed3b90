"""Budget accounts of data collections: what releases spend together, and a cap that no sequence of charges exceeds."""
