"""`CodeJudge`, what judges plain functions: the `function` of the entry-point group ``dpspec.judges``."""

from __future__ import annotations

from dpspec import Mechanism, Verdict
from dpspec.plugin import Dataset, PrivacySpec, Registry
from dpspec.plugin.judges import Event, NamedFunction, PlainFunction, Progress, Sampling, Witness
from dpspec_code.automatic import ReleaseCode
from dpspec_code.case import judge_function
from dpspec_code.named_function import verify_named
from dpspec_code.replay import replay


class CodeJudge:
    """The methods of `dpspec.plugin.judges.FunctionJudge`; what they do is said there."""

    def verify(
        self,
        function: PlainFunction,
        spec: PrivacySpec,
        sampling: Sampling,
        *,
        datasets: tuple[Dataset, ...] | None = None,
        registry: Registry | None = None,
        progress: Progress | None = None,
    ) -> Verdict:
        return judge_function(function, spec, sampling, datasets=datasets, registry=registry, progress=progress)

    def verify_named(
        self, function: NamedFunction, spec: PrivacySpec, *, registry: Registry | None = None, progress: Progress | None = None
    ) -> Verdict:
        return verify_named(function, spec, registry=registry, progress=progress)

    def replay(
        self,
        function: PlainFunction | NamedFunction,
        spec: PrivacySpec,
        witness: Witness,
        sampling: Sampling,
        *,
        registry: Registry | None = None,
        progress: Progress | None = None,
    ) -> tuple[Verdict, Event | None]:
        return replay(function, spec, witness, sampling, registry=registry, progress=progress)

    def release_code(self, mechanism: Mechanism) -> Mechanism:
        return ReleaseCode(mechanism)
