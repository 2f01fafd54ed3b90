"""The exceptions of this plugin."""

from dpspec.errors import DpspecError


class ImproperPosteriorError(DpspecError, ValueError):
    """A prior with which the posterior has no finite integral: nothing can be said with it."""

    code = "improper-posterior"
