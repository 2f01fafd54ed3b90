"""The first-party plugin of statistical disclosure control: what exact tables disclose, and which error goes with which risk."""

DPSPEC_API = 1
