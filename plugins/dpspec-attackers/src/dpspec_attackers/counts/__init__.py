"""Attackers on published counts (thesis, chapter 2): a block, a block in a larger group, a record unique at several levels."""
