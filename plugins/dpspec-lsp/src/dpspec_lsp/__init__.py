"""The language server of dpspec, for specification files in an editor."""
