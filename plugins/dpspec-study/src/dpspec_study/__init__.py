"""From a table to designs of its release, compared at equal risk."""
