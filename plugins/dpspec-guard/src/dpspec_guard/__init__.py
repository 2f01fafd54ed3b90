"""Changes of promises between versions of specification files, and a lock on what was verified."""
