"""What can be wrong with a rule of disclosure control."""

from dpspec.errors import ParameterError, TableError


class UnknownCategoryError(ParameterError):
    """A recoding names a category that its attribute does not have."""

    code = "recoding-unknown-category"


class RecodingGapError(ParameterError):
    """A recoding leaves a category out: nobody would know what becomes of its records."""

    code = "recoding-gap"


class RecodingOverlapError(ParameterError):
    """A recoding puts one category into two groups."""

    code = "recoding-overlap"


class PerturbationSumError(ParameterError):
    """The probabilities of a row of a perturbation table do not sum to 1."""

    code = "perturbation-sum"


class PerturbationMeanError(ParameterError):
    """A row of a perturbation table changes counts on average."""

    code = "perturbation-mean"


class PerturbationRangeError(ParameterError):
    """A row of a perturbation table would publish a negative count, or stands at the wrong count."""

    code = "perturbation-range"


class PerturbationKeysError(ParameterError):
    """A probability of a perturbation table is no multiple of 1/keys, so that no set of cell keys has it."""

    code = "perturbation-keys"


class PerturbationDesignError(ParameterError):
    """No perturbation table has the wanted variance and largest change."""

    code = "perturbation-design"


class EmptyTableError(TableError):
    """A table without records: there is nothing to protect, and nothing to publish."""

    code = "empty-table"
