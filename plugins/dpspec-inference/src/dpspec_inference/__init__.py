"""The first-party plugin of inference: estimates and posteriors from a release, with the stated law as likelihood."""

DPSPEC_API = 1
