"""`dpspec infer`: estimates and posteriors from a release, with the law that the mechanism states as the likelihood."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dpspec as dp
from dpspec.plugin import errors, params
from dpspec.plugin.applications import SUFFIX, contributed, did_you_mean, parse, read_bytes
from dpspec_inference.model import Inference, InferenceModel, Value
from dpspec_inference.reading import read_release

if TYPE_CHECKING:
    from dpspec import CommandAnswer, SpecDocument

MODELS = "dpspec.models"
"""The entry-point group of models."""
LARGEST = 1_000_000
"""The largest file of a model, in bytes."""
SHOWN_CELLS = 40
"""So many estimates are printed; the JSON has all."""
SCOPE = "for this mechanism and this release"


def infer(
    specification: SpecDocument | str | Path,
    release: str | Path,
    *,
    model: InferenceModel | str | Path,
    **settings: Any,
) -> CommandAnswer:
    """Estimate from a release; the likelihood is the law that the mechanism of the specification states.

    Only the release and the specification are read. Estimates are unbiased under the stated law. Posteriors are exact sums,
    quadrature with a stated error, or sampled with diagnostics and a seed.

    Args:
        specification: a specification that names the mechanism, or its file.
        release: the folder that `release` wrote, a released table, or a TOML or JSON file of released numbers.
        model: a model, its name, or a TOML file with its type and parameters.
        settings: parameters of a model that is given by its name or file.

    Returns:
        `estimates`, `posterior`, `facts`, `method`, `error` and `diagnostics`; `value` is the `Inference`. The exit code is 3
        where sampled chains do not agree.

    Raises:
        UnknownNameError: no model has this name.
        IncompatibleBlocksError: the model does not know the law of the mechanism.
        ReleaseError: the release is of another specification.
        TableError: a column or a number is missing, or a count is outside the space.
        ImproperPosteriorError: the posterior has no finite integral; the message names the theorem.
        UndeterminedModelError: the release does not determine what the model estimates.

    >>> import dpspec as dp, pathlib, tempfile
    >>> response = dp.build(
    ...     id="response", space={"type": "bit-vectors", "length": 20}, input_divergence={"type": "hamming-ordered"},
    ...     output_divergence={"type": "mult"}, budget={"epsilon": "ln(3/2)"},
    ...     mechanism={"type": "randomised-response", "keep_probability": "3/5"})
    >>> folder = tempfile.TemporaryDirectory()
    >>> published = pathlib.Path(folder.name, "published.toml")
    >>> _ = published.write_text('0 = 11\\n1 = 9\\n')
    >>> found = dp.infer(response, published, model="proportion")
    >>> found["estimates"][0]["value"], found["estimates"][0]["variance"]
    ('1/4', '99/320')
    >>> folder.cleanup()
    """
    document = dp.read(specification) if isinstance(specification, str | Path) else specification
    chosen = chosen_model(model, settings)
    released = read_release(Path(release), document, dp.installed().registry)
    found = chosen.infer(released)
    content = _data(document.id, chosen, found)
    code = 0 if found.has_converged else 3
    return dp.CommandAnswer("infer", code, content, partial(_text, document.id, chosen, found), value=found)


def models() -> dict[str, type[InferenceModel]]:
    """The models of all installed packages, by name.

    >>> sorted(models())[:3]
    ['block-count', 'mean-and-variance', 'proportion']
    """
    return {name: point.load() for name, point in contributed(MODELS).items()}


def chosen_model(model: InferenceModel | str | Path, settings: Mapping[str, Any]) -> InferenceModel:
    """A model from its name or file, with settings that take the place of those of the file.

    Raises:
        UnknownNameError: no model has this name.
        MissingKeyError: the file has no type.
        PluginContractError: what a package names is no model.
    """
    if isinstance(model, InferenceModel):
        if settings:
            raise errors.ParameterError("settings", "go with the name of a model, and this is a model", value=", ".join(settings))
        return model
    table: dict[str, Any] = {"type": str(model)}
    if Path(model).suffix == ".toml":
        content = read_bytes(Path(model), LARGEST)
        table = parse(content[:LARGEST].decode("utf-8-sig", errors="replace"))
        if str(model).endswith(SUFFIX) or "space" in table:
            raise errors.ParameterError("--model", "is a specification", "give a model, which has a type alone", value=str(model))
    name = table.pop("type", None)
    if not isinstance(name, str):
        known = ", ".join(sorted(contributed(MODELS)))
        raise errors.MissingKeyError("type", "is missing in the file of the model", f'write type = "...": {known}')
    if name not in contributed(MODELS):
        raise errors.UnknownNameError("model", "is not installed", did_you_mean(name, sorted(contributed(MODELS))), value=name)
    cls = contributed(MODELS)[name].load()
    if not (isinstance(cls, type) and issubclass(cls, InferenceModel)):
        raise errors.PluginContractError(f"model {name}", "is no subclass of InferenceModel", value=cls)
    made: InferenceModel = params.build(cls, {**table, **settings}, f"model {name}")
    return made


# --- as data --------------------------------------------------------------------------------------


def _written(value: Value | None) -> str | float | None:
    """An exact number as text, a double as a number."""
    if value is None:
        return None
    return str(value) if isinstance(value, Fraction) else float(value)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _data(name: str, model: InferenceModel, found: Inference) -> dict[str, Any]:
    return {
        "specification": name,
        "model": {"name": model.name, "title": model.title, "source": model.source},
        "scope": SCOPE,
        "law": found.law,
        "prior": found.prior,
        "proper": found.proper or None,
        "estimates": [
            {
                "name": one.name, "value": _written(one.value), "variance": _written(one.variance),
                "standard_error": one.standard_error, "over": one.over,
                "interval": None if one.interval is None else list(one.interval),
            }
            for one in found.estimates
        ],
        "posterior": [
            {"name": one.name, "mean": _written(one.mean), "deviation": one.deviation, "interval": [one.low, one.high]}
            for one in found.posteriors
        ],
        "level": str(found.level),
        "facts": [{"name": label, "value": _written(value)} for label, value in found.facts],
        "method": found.method,
        "error": found.error,
        "diagnostics": [
            {
                "name": one.name, "split_r_hat": _finite(one.split_r_hat), "effective_draws": one.effective_draws,
                "good": one.is_good,
            }
            for one in found.diagnostics
        ],
        "seed": found.seed,
        "assumptions": list(found.assumptions),
    }  # fmt: skip


# --- as text --------------------------------------------------------------------------------------


def _shown(value: Value) -> str:
    """A number to six digits, an exact fraction with its decimal where it is short.

    >>> _shown(Fraction(1, 4)), _shown(Fraction(1, 17)), _shown(2.5e-7), _shown(Fraction(43))
    ('0.25', '1/17 (0.0588235)', '2.5e-07', '43')
    """
    if isinstance(value, Fraction):
        if value.denominator == 1 and abs(value) < 10**12:
            return f"{int(value):,}"
        decimal = f"{float(value):.6g}"
        short = len(str(value)) <= 12
        return decimal if Fraction(decimal) == value or not short else f"{value} ({decimal})"
    return f"{value:.6g}"


def _text(name: str, model: InferenceModel, found: Inference) -> str:
    lines = []
    if found.estimates:
        first = found.estimates[0]
        error = "" if first.standard_error is None else f", standard error {first.standard_error:.6g}"
        lines.append(f"{first.name}: estimate {_shown(first.value)}{error}")
    elif found.facts:
        lines.append("; ".join(f"{label} {_shown(value)}" for label, value in found.facts[:2]))
    if model.name != "universe":
        lines += [f"{one.name}: posterior mean {_shown(one.mean)}" for one in found.posteriors[:2]]
    if not found.has_converged:
        lines.append("The chains do not agree: the posterior is undecided. See the diagnostics.")
    lines += ["", f"  specification  {name}", f"  model          {model.name}: {model.title}", f"  likelihood     {found.law}"]
    lines += [f"  prior          {found.prior}"] if found.prior != "none" else []
    lines += [f"  proper         {found.proper}"] if found.proper else []
    lines.append(f"  scope          {SCOPE}; nothing confidential is read")
    if found.estimates:
        ranges = any(one.interval for one in found.estimates)
        rows: list[tuple[str, ...]] = [("estimate", "value", "standard error", "over")]
        rows = [(*rows[0], f"{_shown(found.level * 100)} % interval")] if ranges else rows
        for one in found.estimates[:SHOWN_CELLS]:
            error = "-" if one.standard_error is None else f"{one.standard_error:.6g}"
            row = one.name, _shown(one.value), error, one.over
            rows.append((*row, _range(*one.interval) if one.interval else "-") if ranges else row)
        lines += ["", *_grid(rows)]
        if len(found.estimates) > SHOWN_CELLS:
            lines.append(f"  and {len(found.estimates) - SHOWN_CELLS:,} more: --format json has all")
    if found.posteriors and model.name != "universe":
        percent = _shown(found.level * 100)
        rows = [("posterior", "mean", "deviation", f"central {percent} % interval")]
        for each in found.posteriors[:SHOWN_CELLS]:
            rows.append((each.name, _shown(each.mean), f"{each.deviation:.6g}", _range(each.low, each.high)))
        lines += ["", *_grid(rows)]
    lines += ["", *(f"  {label}: {_shown(value)}" for label, value in found.facts)] if found.facts else []
    if found.diagnostics:
        rows = [("diagnostic", "split R-hat", "effective draws", "")]
        for test in found.diagnostics:
            words = "good" if test.is_good else "not converged"
            rows.append((test.name, f"{test.split_r_hat:.4f}", f"{test.effective_draws:,.0f}", words))
        lines += ["", *_grid(rows), f"  seed {found.seed}"]
    lines += ["", f"  method: {found.method}", f"  error: {found.error}"]
    lines += [f"  assumes: {words}" for words in found.assumptions]
    return "\n".join(lines)


def _range(low: float, high: float) -> str:
    return f"{low:.6g} to {high:.6g}"


def _grid(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return ["  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
