"""dpspec: differential privacy specifications as objects that are written, verified, compared and explained.

Made by python docs/make_face.py, for editors and type checkers, with all first-party packages installed. What another package
than dpspec brings says so in its first line ("Package dpspec-noise."); without the package, the name is an AttributeError that
says what to install.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from dpspec.api import (
    build as build,
    compare as compare,
    compose as compose,
    convert as convert,
    ledger as ledger,
    lint as lint,
    order as order,
    read as read,
    read_table as read_table,
    replay as replay,
    risk as risk,
    verify as verify,
)
from dpspec.base.errors import DpspecError as DpspecError
from dpspec.base.exact import Bracket as Bracket, Number as Number, ln as ln, number as number, sqrt as sqrt
from dpspec.blocks.bounded import (
    BoundedIntegers as BoundedIntegers,
    BoundedReals as BoundedReals,
    ClippedVectors as ClippedVectors,
    TimeSeries as TimeSeries,
)
from dpspec.blocks.budget import Budget as Budget, BudgetTable as BudgetTable, UniformBudget as UniformBudget
from dpspec.blocks.input_divergence import InputDivergence as InputDivergence, Relation as Relation
from dpspec.blocks.invariant import (
    FunctionInvariant as FunctionInvariant,
    Invariant as Invariant,
    LinearMap as LinearMap,
    Marginal as Marginal,
)
from dpspec.blocks.lists import Texts as Texts, ValueLists as ValueLists
from dpspec.blocks.multiverse import (
    ExplicitUniverses as ExplicitUniverses,
    LevelSets as LevelSets,
    Multiverse as Multiverse,
    Trivial as Trivial,
)
from dpspec.blocks.output_divergence import OutputDivergence as OutputDivergence
from dpspec.blocks.records import (
    ContingencyTables as ContingencyTables,
    Households as Households,
    OrderedRecords as OrderedRecords,
    UnorderedRecords as UnorderedRecords,
)
from dpspec.blocks.space import Attribute as Attribute, DatasetSpace as DatasetSpace
from dpspec.blocks.vectors import BitVectors as BitVectors, IntegerCounts as IntegerCounts
from dpspec.commands import (
    ablate as ablate,
    check as check,
    check_plugin as check_plugin,
    examples as examples,
    explain as explain,
    measure as measure,
    new_plugin as new_plugin,
    new_spec as new_spec,
    plugins as plugins,
    recommend as recommend,
    schema as schema,
    yardsticks as yardsticks,
)
from dpspec.comparison.compare import Comparison as Comparison
from dpspec.constructors import spec as spec
from dpspec.extension.loader import installed as installed, load_plugins as load_plugins
from dpspec.grammar.mechanism import Claim as Claim, Mechanism as Mechanism
from dpspec.grammar.spec import PrivacySpec as PrivacySpec
from dpspec.laws.law import FiniteLaw as FiniteLaw, Law as Law
from dpspec.report.figures import Figure as Figure
from dpspec.report.pages import CommandAnswer as CommandAnswer
from dpspec.specfile.document import SpecDocument as SpecDocument
from dpspec.verifier.verdict import Outcome as Outcome, Verdict as Verdict
from dpspec.base.exact import NumberLike
from dpspec.grammar.attacker import AttackerModel
from dpspec.grammar.attacker import Tolerance
from dpspec.grammar.flavour import Flavour

__version__: str

def __getattr__(name: str) -> Any: ...

def attacker(name: str, /, **given: Any) -> AttackerModel:
    """A registered attacker by its name, with its parameters."""

def flavour(name: str, /, **given: Any) -> Flavour:
    """A registered flavour by its name, with its parameters."""

def input_divergence(name: str, /, **given: Any) -> InputDivergence:
    """A registered input divergence by its name, with its parameters."""

def invariant(name: str, /, **given: Any) -> Invariant:
    """A registered invariant by its name, with its parameters."""

def mechanism(name: str, /, **given: Any) -> Mechanism:
    """A registered mechanism by its name, with its parameters."""

def multiverse(name: str, /, **given: Any) -> Multiverse:
    """A registered multiverse by its name, with its parameters."""

def output_divergence(name: str, /, **given: Any) -> OutputDivergence:
    """A registered output divergence by its name, with its parameters."""

def relation(name: str, /, **given: Any) -> Relation:
    """A registered relation by its name, with its parameters."""

def space(name: str, /, **given: Any) -> DatasetSpace:
    """A registered space by its name, with its parameters."""

def tolerance(name: str, /, **given: Any) -> Tolerance:
    """A registered tolerance by its name, with its parameters."""

def above_threshold(
    *,
    query: Invariant | str | Mapping[str, Any],
    threshold: NumberLike,
    threshold_scale: NumberLike,
    query_scale: NumberLike,
) -> Mechanism:
    """Package dpspec-noise. The first cell whose noisy count is at or above a noisy threshold, counts with Lap(query scale),
    threshold with Lap(threshold scale): the sparse vector technique with one positive answer (Dwork et al. 2009; Lyu, Su
    and Li 2017).

    With counts that change by Delta at most the loss is at most Delta (1/threshold_scale + 2/query_scale), and Delta
    (1/threshold_scale + 1/query_scale) where all change in one direction. Cells of one table do not change all at once: one
    record added costs 1/query_scale, one replaced 2/query_scale, whatever the threshold has.

    Args:
        query: the table whose cells are tested in their order [object of the kind invariants].
        threshold: the count that each answer is compared with [rational].
        threshold_scale: the scales of the noise, in counts [rational in (0, inf)].
        query_scale: the scales of the noise, in counts [rational in (0, inf)].
    """

def account(url: Any, *, wait: Any = ...) -> Any:
    """Package dpspec-accounts. Open a budget account: ``dpspec account``.

    Args:
        url: a path of an SQLite file, or ``postgresql://USER@HOST/DATABASE``.
        wait: how many seconds to wait for another process that writes.

    Returns:
        the account: `balance`, `quote`, `charge`, `reserve`, `draw`, `commit`, `void` and `export`. Make one with
        ``Account.create`` of dpspec_accounts.account, or with `dpspec account create`.

    Raises:
        AccountError: the URL cannot be one.
    """

def accuracy(specification: Any, released: Any = ..., *, level: Any = ..., runs: Any = ..., seed: Any = ..., out: Any = ..., progress: Any = ...) -> CommandAnswer:
    """Package dpspec-release. How far published numbers lie from the true ones: ``dpspec accuracy``. `value` has the accuracy.

    Args:
        specification: a specification or its file; it names a mechanism.
        released: what it released: a folder of `dpspec release`, or one released file.
        level: how often a number is to be within its margin, in (0, 1).
        runs: how many runs are simulated, where the law of what was released is not known.
        seed: of these runs.
        out: a CSV file that the released numbers are written into, each with its margin.
        progress: called with (done, in all).

    Returns:
        for each table the margin of error, the standard deviation and the bias, and for what nothing is known, why.

    Raises:
        MissingKeyError: the file names no mechanism.
        ReleaseError: the release is of another specification.
        TableError and its kin: it cannot be read, or does not fit the space.

    >>> import dpspec as dp
    >>> noise = dp.geometric(queries=dp.marginal(attributes="colour"), ratio="1/2")
    >>> claim = dp.spec(space=dp.records(colour=3), distance="hamming", standard="pure", epsilon="ln(4)")
    >>> file = SpecDocument(id="colours", title="Colours", spec=claim, mechanism=noise)
    >>> accuracy(file)["tables"][0]["margin"]
    {'lower': '4', 'upper': '4'}
    """

def add_remove(
    *,
    unit: str = ...,
) -> Relation:
    """Package dpspec-divergences. Unbounded neighbours: one record is added or removed (Bailie, Gong and Meng 2023; Lecture
    notes 2025).

    Args:
        unit: what one record is [text; default person].
    """

def amplification_by_sampling() -> Flavour:
    """Package dpspec-flavours. Amplification by sampling: the dataset is the frame, the sample is part of the mechanism and
    secret.

    One of two records is drawn. A ln 3-DP answer on the sample is ln(1 + 1/2 (3 - 1)) = ln 2-DP on the frame.
    """

def approximate_dp() -> Flavour:
    """Package dpspec-flavours. Approximate differential privacy: P_x(S) <= e^epsilon P_x'(S) + delta for all events S and all
    neighbours x, x' (Dwork, Kenthapadi, McSherry, Mironov and Naor 2006).
    """

def arbitrary_prior(
    *,
    prior: str | Mapping[Any, NumberLike] | Sequence[tuple[Any, NumberLike]] = ...,
    position: int = ...,
    counterfactual: str = ...,
    default: str | int | Sequence[Any] | None = ...,
    factors: Sequence[NumberLike] = ...,
    distance: NumberLike | None = ...,
) -> AttackerModel:
    """Package dpspec-attackers. An attacker with any prior over whole datasets, who compares the release with one that does
    not use the target's record.

    The ratio of the two posteriors of the target's record is what that record causes; under pure privacy it lies within
    e^-epsilon and e^epsilon for every prior when the record is replaced by a draw from what the others let one expect, and
    within e^(-2 epsilon) and e^(2 epsilon) for a fixed default record or none. Posterior by prior is another thing: it has
    no bound that does not grow with the number of records, since others may disclose the target (Bailie et al. 2024; Kifer
    et al. 2022).

    Args:
        prior: pairs [dataset, probability] that sum to 1, for the mechanism's own law; uniform without it [list of pairs
            [dataset, probability] that sum to 1; default uniform].
        position: which record is the target's, from 0 [integer in [0, inf); default 0].
        counterfactual: the replacement of the target's record when it is not used: sampled, default or dropped [one of
            dropped, default, sampled; default sampled].
        default: the default record [text, an integer, or a list of them].
        factors: growths of the belief, above 1 [list of rationals in (1, inf); default ('2', '5', '10')].
        distance: the distance of two datasets with different candidates, in the unit of the input divergence; that of a
            replaced record where the size of the data is fixed [exact number in (0, inf)].
    """

def around(
    *,
    centres: Sequence[str | int | Sequence[Any]] | None = ...,
    distance: InputDivergence | str | Mapping[str, Any],
    radius: NumberLike,
) -> Multiverse:
    """Package dpspec-flavours. One universe around each centre x*: the ball {x : d(x*, x) <= radius}, in which all pairs
    count.

    It is the universe of conditioned differential privacy; the label is ("around", x*).

    Args:
        centres: the datasets x*; without them every dataset is one, and the universes overlap [list of text, an integer, or
            a list of them].
        distance: d [object of the kind input_divergences].
        radius: the largest distance from x*, in units of d [exact number in [0, inf)].
    """

def attack(specification: Any, table: Any, *, secret: Any, known: Any = ..., attacker: Any = ..., release: Any = ..., targets: Any = ..., seed: Any = ..., confidence: Any = ..., progress: Any = ...) -> CommandAnswer:
    """Package dpspec-attackers. How often attacks on a release name a secret, compared with a release without the target's
    record.

    The score of an attack is the share of targets whose secret it names. Its gain is score with the record minus score
    without.

    Args:
        specification: a specification with a mechanism, or its file.
        table: the confidential table. Only totals over its records are in the answer.
        secret: the attributes that the attacker wants.
        known: the attributes of the target that the attacker knows; without them, all others.
        attacker: a registered attacker of tables, or its name; without it, all that fit.
        release: the directory of a release of this table. Then the numbers with the record are about this release; without
            it,
            each target has a release of its own.
        targets: the number of targets that are drawn, with replacement, from 1 to 10,000.
        seed: the seed of all draws, for tests and audits; without it, the generator of the operating system.
        confidence: the probability with which each interval holds, in (0, 1).
        progress: called with (targets done, in all).

    Returns:
        for each attacker `with`, `without` and `gain`: exact on tables of up to four records, otherwise simulated with
            intervals.

    Raises:
        UnknownNameError: an attribute or attacker that is not known.
        ParameterError: the secret is known to the attacker, or a number is out of its range.
        TableError: the table does not fit the space, or the release does not hold its exact tables.
        AttackerMisfitError: the attacker, or each of them, does not fit the release.
        NotEnumerableError: the attack would list too much.

    Source: Garfinkel, Abowd and Martindale 2019; the counterfactual as in Bailie et al. 2024.

    >>> import dpspec as dp
    >>> [name for name in dp.installed().registry.names("attackers") if name in ("nearest-donor", "integer-program")]
    ['integer-program', 'nearest-donor']
    """

def attribute_restricted(
    *,
    attributes: str | Sequence[str],
    reacting: NumberLike | None = ...,
    levels: Sequence[NumberLike] = ...,
    distance: NumberLike = ...,
) -> AttackerModel:
    """Package dpspec-attackers. A tester of two datasets that differ in one record, and in that record in the secret
    attributes alone.

    A specification by itself promises no more about one attribute than about the whole record: a mechanism may spend all of
    its budget there. When only some queries of a release can react to the attributes, the budget of those queries replaces
    the whole. Which ones can is a judgement of the user, and the budgets of several such scenarios share queries and must
    not be added.

    Args:
        attributes: the secret attributes [list of texts].
        reacting: the budget of the queries that can react, in the parameter of the specification; without it the whole
            budget [exact number in [0, inf)].
        levels: the levels at which the power is shown, in (0, 1) [list of rationals in (0, 1); default ('1/100', '1/20',
            '1/10', '1/4', '1/2')].
        distance: how far apart the two datasets may be, in the unit of the input divergence [exact number in (0, inf);
            default 1].
    """

def averaged(
    *,
    mechanism: Mechanism | str | Mapping[str, Any],
    seen: Sequence[int] = ...,
) -> Mechanism:
    """Package dpspec-flavours. A mechanism on random data: P_x = sum over z of Pi_x(z) M(z), with Pi_x the law of the data of
    an element x.

    Args:
        mechanism: M, on the base space [object of the kind mechanisms].
        seen: positions of records that the attacker sees in addition to the output: a passive attacker, whose background is
            random [list of integers in [0, inf)].
    """

def batched(
    *,
    mechanism: Mechanism | str | Mapping[str, Any],
    batches: int,
    assignment: str,
) -> Mechanism:
    """Package dpspec-flavours. T(batch 1), ..., T(batch B) with independent randomness, where each record is in one batch, and
    no one knows in which.

    * ``shuffled``: the records are put in a random order and cut into B batches of one size.
    * ``independent``: each record goes to a batch that is drawn uniformly, independently of all others (balls and bins).

    From above: given in which batch each record is, a record changes what is released about one batch. So all releases
    together cost at most what one release about all records costs, for a record replaced and, where batches are drawn
    independently, for one added or removed; d_Pr of two mixtures with the same weights is at most the largest d_Pr of their
    parts. What batches hide is not counted: no pair of laws is proved to bound it. From below, for Gaussian noise on one
    number, by the largest output (Chua et al. 2024). Between the two the verdict is undecided.

    Args:
        mechanism: T, on the space of batches [object of the kind mechanisms].
        batches: B, the number of batches [integer in [1, 10000000]].
        assignment: shuffled, or independent [one of shuffled, independent].
    """

def bayesian_dp() -> Flavour:
    """Package dpspec-flavours. Bayesian differential privacy of correlated data (Yang, Sato and Nakagawa 2015).

    The loss about one record, for every attacker who knows any of the others, the rest being drawn from the prior given
    that. Here two bits agree with probability 4/5; the attacker knows the other one, or nothing, which is worse.
    """

def bit_vectors(
    *,
    length: int,
    unit: str = ...,
) -> DatasetSpace:
    """{0, 1}^n: one bit for each of n units, in a fixed order.

    Args:
        length: n, the number of positions [integer in [1, inf)].
        unit: what one position is [text; default person].
    """

def block_knowledge(
    *,
    priors: Sequence[NumberLike] = ...,
    distance: NumberLike = ...,
    datasets: Sequence[str | int | Sequence[Any]] = ...,
) -> AttackerModel:
    """Package dpspec-attackers. An attacker who knows all records of a block but one, and reads a count with noise (Kazan
    2025).

    Shown are the posterior of what is true, averaged over the release (Kazan 2025, equations 2.5 and 2.6), the factor by
    which that exceeds the prior, and how often a bet on what seems likelier is right when the truth is drawn from the
    prior. One realised posterior can be larger.

    Args:
        priors: p, the prior probability of what is true, in (0, 1) [list of rationals in (0, 1); default ('1/2', '1/5',
            '1/10', '1/50')].
        distance: the largest distance of the two candidate datasets, in the unit of the input divergence [exact number in
            (0, inf); default 1].
        datasets: the candidate datasets, for the mechanism's own law; by default all, or the smallest of a large space
            [list of text, an integer, or a list of them].
    """

def blowfish() -> Flavour:
    """Package dpspec-flavours. Blowfish privacy: P_x(S) <= e^(epsilon d_G(x, x')) P_x'(S), d_G the distance of a policy graph
    on values.

    The policy is a line: low and mid pay must not be distinguished, nor mid and high; low and high may, at twice the price.
    """

def blowfish_constraints() -> Flavour:
    """Package dpspec-flavours. Blowfish privacy with constraints: P_x(S) <= e^epsilon P_x'(S) for closest x, x' on which the
    public facts agree.

    Public is how many of three people answered "yes", so that one secret answer changes only together with another one.
    """

def bootstrap_dp() -> Flavour:
    """Package dpspec-flavours. Bootstrap differential privacy: P_x(S) <= e^(epsilon d(x, x')) P_x'(S) for all resamples x, x'
    of the observed dataset.
    """

def bottom_coding(
    *,
    unit: str = ...,
    column: str,
    bottom: str,
) -> Mechanism:
    """Package dpspec-census. All categories of an attribute up to one become one: "20 or less".

    Args:
        unit: the unit that one record is [text; default person].
        column: the attribute; its categories are in their order [text].
        bottom: the last category that is put together with all before it [text].
    """

def bounded(
    *,
    mechanism: Mechanism | str | Mapping[str, Any],
    most: int | None = ...,
    in_cell: int | None = ...,
    by: str | Sequence[str] = ...,
) -> Mechanism:
    """Package dpspec-noise. T(at most so many records of each user): the first `most` records of each larger record, and the
    first `in_cell` of a kind.

    The effect of one larger record is bounded by its remaining members, however many it has. The choice reads that larger
    record alone; one that looks at others too would have no such bound (Amin, Kulesza, Munoz Medina and Vassilvitskii
    2019).

    Args:
        mechanism: T, about records of the smaller unit [object of the kind mechanisms].
        most: how many records are left of each larger one; without it all [integer in [0, inf)].
        in_cell: how many records are left of each combination of `by`; without it all [integer in [0, inf)].
        by: attributes of the smaller unit [list of texts].
    """

def bounded_integers(
    *,
    low: int,
    high: int,
    least: int = ...,
    most: int | None = ...,
    ordered: bool = ...,
    unit: str = ...,
) -> DatasetSpace:
    """Lists of integers between two bounds: x_i in {low, ..., high}.

    Args:
        low: the bounds of a number, in its own unit [integer].
        high: the bounds of a number, in its own unit [integer].
        least: the range of the length, the number of records; without `most` it is unbounded [integer in [0, inf); default
            0].
        most: the range of the length, the number of records; without `most` it is unbounded [integer in [0, inf)].
        ordered: whether positions count; otherwise a dataset is a multiset [true or false; default True].
        unit: what one number is of [text; default person].
    """

def bounded_reals(
    *,
    low: NumberLike,
    high: NumberLike,
    step: NumberLike | None = ...,
    least: int = ...,
    most: int | None = ...,
    ordered: bool = ...,
    unit: str = ...,
) -> DatasetSpace:
    """Lists of real numbers between two bounds: x_i in [low, high], as doubles or on a grid.

    Args:
        low: the bounds of a number, in its own unit [rational].
        high: the bounds of a number, in its own unit [rational].
        step: the width of a grid from `low` on, on which the numbers lie; without it they are all doubles between the
            bounds [rational in (0, inf)].
        least: the range of the length, the number of records; without `most` it is unbounded [integer in [0, inf); default
            0].
        most: the range of the length, the number of records; without `most` it is unbounded [integer in [0, inf)].
        ordered: whether positions count; otherwise a dataset is a multiset [true or false; default True].
        unit: what one number is of [text; default person].
    """

def box(
    *,
    ratio: NumberLike,
    p_low: NumberLike = ...,
    p_high: NumberLike = ...,
    q_low: NumberLike = ...,
    q_high: NumberLike = ...,
) -> Tolerance:
    """Package dpspec-attackers. r* = ratio for priors in a box, nothing outside (Kazan 2025, equation 3.28).

    Args:
        ratio: the tolerated posterior by prior of "included, with a value in S", above 1 [rational in (1, inf)].
        p_low: the ranges of these priors; 0 stands for the limit [rational in [0, 1]; default 0].
        p_high: the ranges of these priors; 0 stands for the limit [rational in (0, 1]; default 1].
        q_low: the ranges of these priors; 0 stands for the limit [rational in [0, 1]; default 0].
        q_high: the ranges of these priors; 0 stands for the limit [rational in (0, 1]; default 1].
    """

def by_part(
    *,
    parameter: str,
    values: Any | Sequence[Any],
    otherwise: NumberLike | None = ...,
    place: int = ...,
) -> Budget:
    """Package dpspec-flavours. A number for each value of one entry of the universe's label: eps_D = table[label of D
    [place]].

    The core's table ``[[budget.universe]]`` names whole labels, which is enough for a few universes; here all universes
    with the same stratum, person or record share a number.

    Args:
        parameter: which number it is, such as epsilon [text].
        values: rows (part, budget) [list of tables of partbudget parameters].
        otherwise: the budget of every part that is not listed; without it all of them must be [exact number in [0, inf)].
        place: which entry of the label is looked up; 0, the first, is the part in strata, one-position and one-record
            [integer in [0, inf); default 0].
    """

def by_value(
    *,
    parameter: str,
    attribute: str,
    base: NumberLike = ...,
    rate: NumberLike,
    unit: str = ...,
    place: int = ...,
) -> Budget:
    """Package dpspec-flavours. A policy function of the record: eps_D = base + rate x (the numeric value of one attribute of
    the record).

    The record is an entry of the label, as in one-record. Large records are protected less, which is what noise of one
    scale on a sum does.

    Args:
        parameter: which number it is [text].
        attribute: the attribute of the record, whose categories are written as rational numbers of at least 0 [text].
        base: the budget of the value 0 [exact number in [0, inf); default 0].
        rate: how much is added per unit of the value [exact number in [0, inf)].
        unit: what the record is [text; default person].
        place: which entry of the label is the record [integer in [0, inf); default 0].
    """

def calibrate(*, epsilon: Any, delta: Any = ..., steps: Any = ..., rate: Any = ..., noise_multiplier: Any = ...) -> CommandAnswer:
    """Package dpspec-flavours. Find the least noise, the largest rate, or the most steps of a training run within (epsilon,
    delta), by bisection.

    Each candidate is accepted only if the proved upper end of its epsilon is within the target. Nothing is said of a run
    whose
    batches are drawn in another way, such as from a shuffled dataset.

    Args:
        epsilon, delta: the target, for one record added or removed.
        steps, rate, noise_multiplier: as for `sgd`; exactly one of them is left out, and found. Noise multipliers are found
            to
            1/1000, rates to three digits.

    Returns:
        `value` has the number that was found, the epsilon that is spent, and the statement of the run.

    Raises:
        ParameterError: not exactly one number is left out, or none is within the target.

    >>> found = calibrate(epsilon=2, delta="1e-5", steps=1_000, rate="1/100").value
    >>> str(found.value), found.epsilon.upper <= 2
    ('24/25', True)
    """

def catalogue(*paths: Any, publisher: Any = ..., year: Any = ..., unit: Any = ..., standard: Any = ..., invariants: Any = ..., trust: Any = ..., verdict: Any = ..., at_least: Any = ..., order: Any = ..., yardstick: Any = ..., delta: Any = ..., ledger: Any = ..., jobs: Any = ..., progress: Any = ...) -> CommandAnswer:
    """Package dpspec-deployments. The promises of real deployments, as a list or as the answer to one question. `value` has
    the chosen entries.

    Args:
        paths: files or directories; without any, specs/deployments.
        publisher, year, unit, standard, invariants, trust, verdict: list those of which this is true.
        at_least: which of them promise at least what the one with this id does.
        order: the order of all that are about one dataset space.
        yardstick: the power of one test that each allows, unit by unit.
        delta: with `yardstick`, the probability at which the epsilon of each is computed, too.
        ledger: the total of those listed, where they are about the same data.
        jobs: so many processes for the verdicts; None for one for each processor where there are many files.
        progress: called with (done, in all).

    Raises:
        ParameterError: several questions at once.
    """

def cell_key(
    *,
    unit: str = ...,
    tables: Sequence[str | Sequence[str]],
    rows: Any | Sequence[Any],
    keys: int,
) -> Mechanism:
    """Package dpspec-census. The cell-key method with its record keys drawn for the release.

    A cell of the base that is not empty has a uniform key, independent of the others. The law is listed over these keys.

    Args:
        unit: the unit that is counted [text; default person].
        tables: the tables, each a list of attributes; [] is the grand total [list of lists of texts].
        rows: the perturbation table: a row for each of the counts 1, 2, ..., the last one for all larger counts too [list
            of tables of perturbationrow parameters].
        keys: K, the number of keys that a cell can have [integer in [1, inf)].
    """

def cell_suppression(
    *,
    unit: str = ...,
    tables: Sequence[str | Sequence[str]],
    threshold: int = ...,
    p_percent: NumberLike | None = ...,
    dominance: Any | None = ...,
    value: str | None = ...,
    protection: int = ...,
) -> Mechanism:
    """Package dpspec-census. Tables in which sensitive cells, and those needed to protect them, are left out.

    The search for the cells goes through all of them. The attributes of the tables have at most 1,000,000 combinations
    (`MOST_CELLS`), also in a release.

    Args:
        unit: the unit that is counted [text; default person].
        tables: the tables, each a list of attributes; [] is the grand total [list of lists of texts].
        threshold: a cell with fewer contributing records than this, but not none, is sensitive; 0 for no such rule [integer
            in [0, inf); default 0].
        p_percent: p of the p-percent rule [rational in [0, inf)].
        dominance: n and k of the dominance rule [table of dominance parameters].
        value: the attribute whose categories are the contributions; without it records are counted [text].
        protection: a suppressed cell could hold at least so many counts more, and less if it holds as many [integer in [1,
            inf); default 1].
    """

def certify(specification: Any, release: Any, out: Any = ...) -> CommandAnswer:
    """Package dpspec-deployments. The certificate of a release: what was checked of it, in a form that anyone can check again.
    `value` is the certificate.

    Args:
        specification: the file under which it was released; its claim has to be verified on all datasets.
        release: the folder that ``dpspec release`` wrote.
        out: a file that the certificate is written into, outside of that folder.

    Raises:
        NotCertifiableError: the claim is refuted, not verified, or verified on miniatures only.
        CertificateError: the folder is no release of the specification.
    """

def check_bounds(path: Any) -> CommandAnswer:
    """Package dpspec-checker. Check the certificate of an audit of published tables: every range of a cell, without the solver
    that found it.

    Args:
        path: what ``dpspec rules audit --certificate FILE`` wrote.

    Raises:
        CheckerError: the file is not a certificate that can be read.
    """

def check_certificate(path: Any, release: Any = ...) -> CommandAnswer:
    """Package dpspec-deployments. Check a certificate without a network: every section is computed again, and compared.
    `value` has the lines.

    Args:
        path: the certificate.
        release: the folder of the released files; without it, what was computed from them is not checked.

    Raises:
        CertificateError: the file is no certificate.
        CertificateVersionError: it is of another version of the format, of dpspec, or of a plugin.
    """

def check_derivation(path: Any, trust: Any = ...) -> CommandAnswer:
    """Package dpspec-checker. Check a derivation file step by step.

    Args:
        path: what ``dpspec compare A B --derivation FILE`` wrote.
        trust: rules whose steps are accepted although the checker does not know them.

    Raises:
        CheckerError: the file is not a derivation that can be read.
    """

def check_proof(path: Any) -> CommandAnswer:
    """Package dpspec-checker. Check the proofs of verdicts step by step, and what the verdicts state.

    Args:
        path: what ``dpspec verify --format json`` wrote.

    Raises:
        CheckerError: the file is not such an output, or holds no proof.
    """

def clipped_sum(
    *,
    attribute: str,
    least: int,
    most: int,
    unit: str = ...,
    where: Mapping[str, str | Sequence[str]] = ...,
) -> Invariant:
    """Package dpspec-noise. q(x) = sum over the records of min(max(value, least), most): a sum whose sensitivity the range
    bounds.

    The categories of the attribute are integers, written as text. One record added changes the sum by max(|least|, |most|)
    at most, one replaced by most - least (Dwork, McSherry, Nissim and Smith 2006).

    Args:
        attribute: whose numbers are summed up [text].
        least: the range to which each value is cut, in its own unit [integer].
        most: the range to which each value is cut, in its own unit [integer].
        unit: whose records they are [text; default person].
        where: for some attributes, the categories that are counted; other records add nothing [table of lists of texts].
    """

def clipped_vectors(
    *,
    dimension: int,
    norm: str = ...,
    radius: NumberLike = ...,
    step: NumberLike | None = ...,
    least: int = ...,
    most: int | None = ...,
    ordered: bool = ...,
    unit: str = ...,
) -> DatasetSpace:
    """Lists of vectors whose norm is at most a radius, as gradients are clipped: x_i in R^k with ||x_i|| <= radius.

    Args:
        dimension: k, the number of coordinates [integer in [1, inf)].
        norm: l1, l2 or l-infinity [one of l1, l2, l-infinity; default l2].
        radius: the largest norm, in the unit of the coordinates [rational in (0, inf); default 1].
        step: the width of a grid around 0, on which every number lies; without it they are doubles [rational in (0, inf)].
        least: the range of the length, the number of records; without `most` it is unbounded [integer in [0, inf); default
            0].
        most: the range of the length, the number of records; without `most` it is unbounded [integer in [0, inf)].
        ordered: whether positions count; otherwise a dataset is a multiset [true or false; default True].
        unit: what one vector is of [text; default person].
    """

def close_adversaries() -> Flavour:
    """Package dpspec-flavours. Close adversaries: a prior that is wrong by a log-ratio of Delta costs 2 Delta more (Song, Wang
    and Chaudhuri 2017).

    The releaser believes that the two records are independent. Given the first, the attacker's law of the data has
    likelihood ratios between 2/3 and 4/3 to that, so Delta = ln(3/2), and his universe has the budget ln 3 + 2 ln(3/2) =
    ln(27/4).
    """

def coarsening(
    *,
    unit: str = ...,
    recodings: Any | Sequence[Any] = ...,
    dropped: str | Sequence[str] = ...,
) -> Mechanism:
    """Package dpspec-census. A file whose attributes are recoded into coarser categories, or left out.

    Args:
        unit: the unit that one record is [text; default person].
        recodings: the attributes that are recoded, each with its groups [list of tables of recoding parameters].
        dropped: the attributes that are left out: the coarsest recoding, into one category [list of texts].
    """

def composed(
    *,
    parts: Mechanism | str | Mapping[str, Any] | Sequence[Mechanism | str | Mapping[str, Any]],
) -> Mechanism:
    """Package dpspec-noise. T(x) = (T_1(x), ..., T_k(x)) with independent randomness: several releases about the same data.

    The loss of the whole is the sum of the losses of the parts (Dwork, Kenthapadi, McSherry, Mironov and Naor 2006); where
    no change moves the answers of two parts, as when they look at different records, it is less.

    Args:
        parts: T_1, ..., T_k [list of objects of the kind mechanisms].
    """

def compound_tester(
    *,
    prior: str | Mapping[Any, NumberLike] | Sequence[tuple[Any, NumberLike]] = ...,
    position: int = ...,
    levels: Sequence[NumberLike] = ...,
    distance: NumberLike | None = ...,
) -> AttackerModel:
    """Package dpspec-attackers. A tester of one candidate for the target's record against another, the other records drawn
    from a known law F.

    Not knowing the others neither raises nor lowers the largest power over all mechanisms and all F; for one mechanism and
    one F it can be strictly lower. The law of the others is that of the prior, whatever the target's record is.

    Args:
        prior: pairs [dataset, probability] that sum to 1, for the mechanism's own law; uniform without it [list of pairs
            [dataset, probability] that sum to 1; default uniform].
        position: which record is the target's, from 0 [integer in [0, inf); default 0].
        levels: the levels at which the power is shown, in (0, 1) [list of rationals in (0, 1); default ('1/100', '1/20',
            '1/10', '1/4', '1/2')].
        distance: how far apart two datasets with different candidates are, in the unit of the input divergence; that of a
            replaced record where the size of the data is fixed [exact number in (0, inf)].
    """

def conditioned_dp() -> Flavour:
    """Package dpspec-flavours. Conditioned differential privacy: P_x(S) <= e^(epsilon d(x, x')) P_x'(S) for all x, x' near the
    observed x*.

    Empirical privacy, for which Abowd et al. (2013) and Charest and Hou (2016) are cited, compares the observed dataset
    with its neighbours (`empirical-dp`). That its neighbours are compared with each other, too, is the reading filed here.
    """

def constant(
    *,
    ratio: NumberLike,
) -> Tolerance:
    """Package dpspec-attackers. r* = ratio for all priors: epsilon = ln(ratio)/2, approached as q -> 0 at p = 1 (Kazan 2025,
    Theorem 10).

    Args:
        ratio: the tolerated posterior by prior of "included, with a value in S", above 1 [rational in (1, inf)].
    """

def contingency_tables(
    *,
    attributes: Mapping[str, int | Sequence[str | int]] | Attribute | Mapping[str, Any] | Sequence[Attribute | Mapping[str, Any]] = ...,
    least: int = ...,
    most: int | None = ...,
    unit: str = ...,
    **named: int | Sequence[str | int],
) -> DatasetSpace:
    """Tables of counts over all combinations of named categorical attributes.

    A dataset is the tuple of counts in the order of the combinations (last attribute fastest): the same information as a
    multiset of records, in the form in which statistics are published.

    Args:
        attributes: the attributes of a record; least and most bound the total count [list of tables of attribute
            parameters].
        least: the range of the number of records; without `most` it is unbounded; least and most bound the total count
            [integer in [0, inf); default 0].
        most: the range of the number of records; without `most` it is unbounded; least and most bound the total count
            [integer in [0, inf)].
        unit: what one record is; least and most bound the total count [text; default person].
        named: attributes by their names, each with its number of categories or their list.
    """

def controlled_rounding(
    *,
    unit: str = ...,
    rows: str,
    columns: str,
    base: int,
) -> Mechanism:
    """Package dpspec-census. A two-way table with its margins, rounded at random to multiples of a base so that it adds up.

    The search for cycles goes through all cells, of which there may be at most 1,000,000 (`MOST_CELLS`), also in a release.

    Args:
        unit: the unit that is counted [text; default person].
        rows: the two attributes of the table [text].
        columns: the two attributes of the table [text].
        base: b: counts are rounded to multiples of it [integer in [1, inf)].
    """

def conventional_rounding(
    *,
    unit: str = ...,
    tables: Sequence[str | Sequence[str]],
    base: int,
    redact_up_to: int | None = ...,
    redact_from: int = ...,
) -> Mechanism:
    """Package dpspec-census. Every published count goes to the nearest multiple of the base, and up when two are equally near;
    small ones are left out before that, where they are redacted.

    Redacting up to 5 and then rounding to 5 publishes a 5 for 6 and 7 alone; redacting up to 7, for no count.

    Args:
        unit: the unit that is counted [text; default person].
        tables: the tables, each a list of attributes; [] is the grand total [list of lists of texts].
        base: b: counts are rounded to multiples of it; 1 publishes the counts [integer in [1, inf)].
        redact_up_to: counts up to this one are published as "x", whether or not the margins give them away [integer in [0,
            inf)].
        redact_from: the least count that is published as "x"; with 1, a count of 0 is published [integer in [0, inf);
            default 0].
    """

def count_mean_sketch(
    *,
    attribute: str | None = ...,
    epsilon: NumberLike,
    width: int,
    hashes: Sequence[Sequence[int]],
) -> Mechanism:
    """Package dpspec-noise. The client of the count mean sketch: one of J hash functions, and a row of m bits, each flipped
    with 1/(e^(epsilon/2) + 1).

    j is drawn uniformly from the functions h_1, ..., h_J; bit c of the row is 1 where h_j(v) = c, before it is flipped
    (Apple Differential Privacy Team 2017). Two categories differ in two bits of the row of every function that
    distinguishes them: that costs epsilon, half of it for each bit. With n of J functions that do, a = n/J p^2 and b = n/J
    (1 - p)^2 for p = e^(epsilon/2) / (e^(epsilon/2) + 1). So collisions lower every divergence but the largest ratio, and
    categories that no function distinguishes cost nothing.

    Args:
        attribute: the attribute that is reported; the only one where it is not named [text].
        epsilon: the pure budget of one report, r + ln(q), r and q rational, q the square of a rational [exact number in [0,
            inf)].
        width: m, the number of bits [integer in [1, 2147483647]].
        hashes: for each function the coefficients (c_0, c_1, ...) of h(v) = (c_0 + c_1 v + c_2 v^2 + ... mod 2^31 - 1) mod
            m, v the place of a category, from 0 on. They are public: drawn uniformly, three coefficients make three values
            independent (Wegman and Carter 1981) [list of lists of integers in [0, 2147483646]].
    """

def coupled_worlds() -> Flavour:
    """Package dpspec-flavours. Coupled-worlds privacy with a stated simulator: the mechanism itself, on the data without the
    record (Bassily et al. 2013).

    Given the first record, the output of the real world is compared with that of an ideal world in which this record is
    replaced by a 0. The definition lets the simulator be anything, which no five-tuple does: see docs/beyond-the-five-
    blocks.md.
    """

def curve(*specifications: Any, panel: Any = ..., size: Any = ..., theme: Any = ..., distance: Any = ..., level: Any = ..., out: Any = ..., progress: Any = ...) -> Any:
    """Package dpspec-report. Plot what specifications allow, as bands, and what their mechanisms do, as curves inside: one
    figure of all of them.

    Args:
        specifications: specifications or files.
        panel: ``trade-off``, ``profile`` (epsilon and delta), ``renyi``, ``power``, ``posterior`` or ``error`` (of counts).
        size: ``slide``, ``column``, ``poster`` or ``page``.
        theme: ``light`` or ``dark``.
        distance: the distance of the two datasets to be distinguished, in units of the input divergence; by default the
            smallest one that occurs in a universe.
        level: for posteriors, the level of the test, in (0, 1).
        out: a file that the figure is written into; ends in .svg, .png or .pdf.
        progress: called with (done, in all).

    Returns:
        the figure; a notebook displays it, and ``save`` writes it.

    Raises:
        PictureError: no requested figure can be drawn, or not into such a file.
    """

def curve_points(*specifications: Any, panel: Any = ..., distance: Any = ..., level: Any = ..., progress: Any = ...) -> Any:
    """Package dpspec-report. The series of a figure of `curve`, as numbers: `data()` has their points, `plot()` the figure.

    Args:
        specifications: specifications or their files.
        panel: which figure: ``trade-off``, ``profile``, ``renyi``, ``power``, ``posterior`` or ``error``.
        distance: the distance of the two datasets, in units of the input divergence; by default the least one.
        level: for posteriors, the level of the test, in (0, 1).
        progress: called with (done, in all).

    Raises:
        PictureError: nothing is known of the requested figure.
    """

def d_nor() -> OutputDivergence:
    """Package dpspec-divergences. Normalised Renyi metric, the standard of zero-concentrated privacy (Bun and Steinke 2016,
    Definition 1.1).

    d(P, Q) = sup over alpha > 1 of sqrt(max(D_alpha(P||Q), D_alpha(Q||P)) / alpha). A budget is written as rho, and rho-
    zCDP says d <= sqrt(rho): the Lipschitz constant of the budget rho is its square root.

    It is a metric. For w > alpha - 1 and t = (alpha - 1)/w, Hoelder's inequality gives D_alpha(P||Q) <= (alpha w / (alpha -
    1)) a + (alpha w / (w + 1 - alpha)) b = alpha (a/t + b/(1 - t)) whenever D_beta(P||R) <= a beta and D_beta(R||Q) <= b
    beta for all beta > 1, and the least value over t in (0, 1) is alpha (sqrt(a) + sqrt(b))^2.
    """

def data_laws(
    *,
    base: DatasetSpace | str | Mapping[str, Any],
    data_laws: Any | Sequence[Any],
) -> DatasetSpace:
    """Package dpspec-flavours. Distributions of data, each with a label: what is protected is which of them the data came
    from.

    Args:
        base: the space of ordinary datasets [object of the kind spaces].
        data_laws: the distributions over it [list of tables of datalaw parameters].
    """

def data_variation() -> InputDivergence:
    """Package dpspec-flavours. Total variation of the data: d(x, x') = sup over events A of |Pi_x(A) - Pi_x'(A)|.

    At most 1; 0 for two elements that represent the same law. By data processing, every mechanism on the data is
    1-Lipschitz from this distance to `total-variation`.
    """

def data_wasserstein(
    *,
    distance_of_data: InputDivergence | str | Mapping[str, Any],
) -> InputDivergence:
    """Package dpspec-flavours. The infinity-Wasserstein distance of the data: how far records must move for one law of the
    data to become the other.

    d(x, x') = inf over couplings (Z, Z') of Pi_x and Pi_x' of the largest distance of Z and Z' (Song, Wang and Chaudhuri
    2017). A mechanism that is eps-Lipschitz from the distance of datasets to `mult` is eps-Lipschitz from this one when
    averaged: for a coupling, P_x(S) = E M(Z)(S) <= e^(eps d) E M(Z')(S).

    Args:
        distance_of_data: the distance of two datasets of the base space [object of the kind input_divergences].
    """

def derangement_swapping(
    *,
    match: str | Sequence[str] = ...,
    swap: str | Sequence[str],
    swap_rate: NumberLike,
    rates: Any | Sequence[Any] = ...,
    unit: str = ...,
) -> Mechanism:
    """Package dpspec-census. In each stratum select each record with probability p, redraw when exactly one is selected, and
    give the selected records each other's swap values by a uniform derangement *of records*.

    P(sigma) is proportional to o^m / D_m for a permutation that moves m records, o = p/(1-p); m = 1 is impossible. Strata
    of size 0 or 1 are skipped.

    Args:
        match: the attributes that form the strata; () for one stratum [list of texts].
        swap: the attributes that move, all together [list of texts].
        swap_rate: p, the probability with which each record is selected [rational in [0, 1]].
        rates: the strata whose records are selected with a probability of their own [list of tables of stratumrate
            parameters].
        unit: the unit that one record is [text; default household].
    """

def diff(*given: Any, progress: Any = ...) -> CommandAnswer:
    """Package dpspec-guard. What changed between two versions of specifications, and whether every old promise still follows.

    Args:
        given: OLD and NEW, each a file, a folder (with the folders in it) or a git revision; or one range of revisions such
            as
            ``"main..HEAD"``, followed by paths that restrict it.
        progress: called with (done, in all).

    Returns:
        an answer with `exit_code` (0: every old promise follows, or the files record why not; 1: one is lost; 2: a new file
        cannot be read; 3: undecided), `content` as JSON data, and a `Difference` as `value`.

    Raises:
        DpspecError: a path or a revision cannot be read.

    >>> import dpspec as dp
    >>> same = "specs/randomised-response.dpspec.toml"
    >>> found = diff(same, same)
    >>> found.exit_code, found["changes"]
    (0, [])
    """

def differ_in_one_position(
    *,
    unit: str = ...,
) -> Relation:
    """Package dpspec-divergences. Neighbours among sequences: equal lengths, and one position differs (Dwork, McSherry, Nissim
    and Smith 2006, Definition 1).

    Args:
        unit: what one position is [text; default person].
    """

def difference(
    *,
    difference: NumberLike,
) -> Tolerance:
    """Package dpspec-attackers. Posterior - prior <= difference for all priors: epsilon = ln((1 + b)/(1 - b)), at p = 1, q =
    (1 - b)/2 (Kazan 2025).

    On the line q = 1 alone it is twice that; see the tolerance membership-difference.

    Args:
        difference: the tolerated posterior less prior [rational in (0, 1)].
    """

def discrete_gaussian(
    *,
    queries: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]],
    neighbours: str = ...,
    unit: str = ...,
    sensitivities: Sequence[NumberLike],
    variance: NumberLike | None = ...,
    scale: NumberLike | None = ...,
) -> Mechanism:
    """Package dpspec-noise. Discrete Gaussian noise: P(w) proportional to e^(-w^2/(2 variance)) on the integers (Canonne,
    Kamath and Steinke 2020).

    It is rho-zCDP with rho = (sum over queries of s_q^2) / (2 variance), s_q the L2 sensitivity of query q.

    Args:
        queries: the invariants whose integer answers are published [list of objects of the kind invariants].
        neighbours: the relation to which the stated sensitivity refers; add-remove in the lecture (Lecture notes 2025) [one
            of add-remove, replace-one, differ-in-one-position; default add-remove].
        unit: the unit that is added, removed or replaced [text; default person].
        sensitivities: s_q, in the order of the queries; such as "sqrt(2)" for a histogram and one replaced record [list of
            exact numbers in [0, inf)].
        variance: the parameter sigma^2, in counts squared (the variance of the law is slightly smaller); or [rational in
            (0, inf)].
        scale: sigma, in counts: a rational or the square root of one. It is kept as the variance [exact number in (0,
            inf)].
    """

def discriminative_pairs(
    *,
    pairs: Sequence[str | Sequence[str]],
) -> Relation:
    """Package dpspec-flavours. Two secrets of a listed pair, for the same attacker: the same prior and the same background
    (Pufferfish).

    (s, theta) ~ (s', theta') when theta = theta' and {s, s'} is listed. `neighbour` of it is the definition of Kifer and
    Machanavajjhala 2014, `path` of it counts the steps in the graph of secrets.

    Args:
        pairs: pairs of labels: of secrets, or of data laws [list of lists of texts].
    """

def distinct_count(
    *,
    attributes: str | Sequence[str],
    unit: str = ...,
    where: Mapping[str, str | Sequence[str]] = ...,
) -> Invariant:
    """Package dpspec-noise. q(x) = the number of combinations of some attributes that occur.

    One record added changes it by 1 at most, and so does one replaced.

    Args:
        attributes: the attributes whose combinations are counted [list of texts].
        unit: whose records they are [text; default person].
        where: for some attributes, the categories that are counted [table of lists of texts].
    """

def distributional_privacy() -> Flavour:
    """Package dpspec-flavours. Distributional privacy: the loss is bounded by the distance of the distributions that the data
    are drawn from.

    Two records, each 1 with probability 1/4, 1/2 or 3/4, at the total variation distance of their joint laws.
    """

def edge_dp() -> Flavour:
    """Package dpspec-flavours. Edge differential privacy: P_G(S) <= e^(epsilon |E (-) E'|) P_G'(S) for graphs on the same
    nodes.
    """

def edit_distance(
    *,
    unit: str = ...,
    replacing: int = ...,
) -> InputDivergence:
    """Package dpspec-divergences. The least number of entries to insert, delete and replace that turns one sequence into the
    other (Levenshtein 1966).

    Args:
        unit: what one entry is [text; default person].
        replacing: the distance that a replacement counts: 1, or 2 where entries are only inserted and deleted [integer in
            [1, 2]; default 1].
    """

def element_level_dp() -> Flavour:
    """Package dpspec-flavours. Element-level privacy: d counts the pairs (user, element) that differ, so that each part of a
    person's data is hidden.

    P_x(S) <= e^(epsilon d(x, x')) P_x'(S): a user with k elements is protected at k epsilon (Asi, Duchi and Javidbakht
    2022).
    """

def element_records(
    *,
    users: str | Sequence[str],
    elements: Mapping[str, int | Sequence[str | int]] | Attribute | Mapping[str, Any] | Sequence[Attribute | Mapping[str, Any]],
    clusters: Mapping[str, str] = ...,
) -> DatasetSpace:
    """Package dpspec-flavours. Named users, each with one value for every element (Asi, Duchi and Javidbakht 2022).

    A dataset is a tuple of records (user, value of the first element, ...), in the order of the users. It is read by
    *user*, by
    *element* (one record for each user and element), and, when the elements are put into clusters, by *cluster* (one record
    for each user and cluster). The element distance, the number of (user, element) pairs that differ, is hamming of
    elements.

    Args:
        users: their names [list of texts].
        elements: the elements with their categories [list of tables of attribute parameters].
        clusters: a table from every element to its cluster; without it there is no unit cluster [table of texts].
    """

def empirical_dp() -> Flavour:
    """Package dpspec-flavours. Empirical differential privacy: P_x*(S) <= e^epsilon P_x(S) and back, x the observed x* with
    one record left out.
    """

def event_level_dp() -> Flavour:
    """Package dpspec-flavours. Event-level privacy: d counts the events added or removed, so that one visit is hidden and not
    who ever came.

    P_x(S) <= e^epsilon P_x'(S) for streams that differ in one event (Dwork, Naor, Pitassi and Rothblum 2010).
    """

def event_streams(
    *,
    users: str | Sequence[str],
    times: int,
    values: str | Sequence[str],
    per_time: int = ...,
    window: int | None = ...,
) -> DatasetSpace:
    """Package dpspec-flavours. Streams of events (user, time, value), with at most `per_time` events of one user at one time,
    possibly none.

    A dataset is a tuple of its events, by user, then time, then value. One and the same dataset is read by three units:
    *event* (one record for each event), *user* (one record for each user: what they did at every time) and *user-window*
    (one record for each user and each of the consecutive blocks of `window` times, such as a person-day). So the distances
    that count records give the levels of protection of Dwork, Naor, Pitassi and Rothblum (2010): event-level is symmetric-
    difference of events, user-level is hamming of users, and between them lies hamming of user-windows.

    Args:
        users: their names [list of texts].
        times: T; the times are 0 to T - 1 [integer in [1, inf)].
        values: what an event may be [list of texts].
        per_time: the most events of one user at one time [integer in [1, inf); default 1].
        window: the number of times in a block; without it there is no unit user-window. The last block may be shorter
            [integer in [1, inf)].
    """

def evidence(specification: Any, out: Any, progress: Any = ...) -> CommandAnswer:
    """Package dpspec-deployments. Write the evidence that a reviewer requires of a file, with its proofs and witnesses, into a
    new folder.

    Args:
        specification: a specification or its file.
        out: the folder.
        progress: called with (done, in all).
    """

def explicit(
    *,
    universes_by_label: Mapping[str, Sequence[str | int | Sequence[Any]]],
) -> Multiverse:
    """A list of universes, each a set of datasets with a label; they may overlap.

    Args:
        universes_by_label: a table from label to datasets, written in the canonical form of the space [table of lists of
            text, an integer, or a list of them].
    """

def exponential(
    *,
    query: Invariant | str | Mapping[str, Any],
    rate: NumberLike,
) -> Mechanism:
    """Package dpspec-noise. One cell of a table is chosen, with P(c) proportional to e^(rate n_c) (McSherry and Talwar 2007).

    With rate epsilon/(2 Delta) it satisfies epsilon-DP for counts that change by Delta at most, with rate epsilon/Delta
    where they all change in one direction, as for one added record. It equals report-noisy-max with Gumbel noise.

    Args:
        query: the table [object of the kind invariants].
        rate: the weight of one record, in nats [exact number in [0, inf)].
    """

def exposed_records(spec: Any, given: Any) -> Any:
    """Package dpspec-disclosure. How many records of a table the exact tables determine in all attributes; as `exposure`
    counts them.

    Raises:
        IncompatibleBlocksError, NotEnumerableError: as `exposure`.
    """

def exposure(specification: Any, table: Any = ..., *, secret: Any = ..., known: Any = ..., unknown: Any = ...) -> CommandAnswer:
    """Package dpspec-disclosure. What exact tables disclose before any noise is added.

    The invariants of a specification are published as they are. The tables with the same invariants form the universe of
    the
    confidential table, and what all of them have in common is known with certainty, whatever the mechanism does.

    Args:
        specification: five blocks, a specification, or its file.
        table: the confidential table. Without it the answer says which changes of one record no universe allows.
        secret: the attributes of the secret; without them, each attribute of the published tables is one in turn.
        known: the attributes of the target that the attacker knows; without them, all other attributes.
        unknown: the number of records, the target's among them, that an attacker does not know who knows all others.

    Returns:
        with a table: `cells` (an attacker who knows only the published tables) and `secrets` (who knows the target's
            values, or
        all records but some), as counts of records; without: `changes`.

    Raises:
        UnknownNameError: an attribute is none of the space.
        ParameterError: the secret is known, or `unknown` is not positive.
        IncompatibleBlocksError: the universes are not given by tables of counts of one unit.
        TableError: the table does not fit the space.
        NotEnumerableError: too many kinds of records fit the tables.

    >>> import dpspec as dp
    >>> people = dp.records(sex=["f", "m"], town=["north", "south"])
    >>> town = dp.marginal(attributes=["town"])
    >>> promise = dp.spec(space=people, invariants=[town], distance="hamming", standard="pure", epsilon=1)
    >>> print(dp.exposure(promise)["changes"][1]["words"])
    no universe allows changing the town of one person
    """

def f_divergence(
    *,
    generator: str,
    direction: str,
    knots: Sequence[Sequence[NumberLike]] = ...,
) -> OutputDivergence:
    """Package dpspec-divergences. An f-divergence: D_f(P||Q) = sum over outcomes of q f(p/q), of a convex f with f(1) = 0.

    An outcome with q = 0 counts p f'(inf), which is infinite for kl and chi-squared; one with p = 0 counts q f(0). The
    direction is part of the divergence: D_f(P||Q) and D_f(Q||P) differ for most f, and the second of two datasets plays Q.
    It is no metric. It is exact for `chi-squared`, `triangular`, `total-variation` and `piecewise-linear` on rational
    atoms, which give rational numbers, and for `kl` and `jensen-shannon`, which give logarithms. Its budget is the
    `divergence`, in nats for the last two (Barthe and Olmedo 2013; Barber and Duchi 2014).

    Args:
        generator: kl: t ln t. chi-squared: (t - 1)^2. hellinger: (sqrt(t) - 1)^2 / 2, the *squared* Hellinger distance.
            jensen-shannon: the mean of the two divergences kl from the mixture. triangular: (t - 1)^2 / (t + 1). total-
            variation: |t - 1| / 2. piecewise-linear: by its knots. The largest values are inf, inf, 1, ln 2, 2 and 1 [one
            of kl, chi-squared, hellinger, jensen-shannon, triangular, total-variation, piecewise-linear].
        direction: forward, D_f(P||Q); backward, D_f(Q||P); both, the larger of the two [one of forward, backward, both].
        knots: pairs (t, f(t)) of a piecewise linear generator, t a ratio of probabilities, from t = 0 on, straight after
            the last; f(1) = 0 [list of lists of rationals].
    """

def f_divergence_privacy() -> Flavour:
    """Package dpspec-flavours. Privacy in an f-divergence: D_f(P_x || P_x') <= c for all neighbours x, x', here Kullback-
    Leibler in both directions.
    """

def f_dp() -> Flavour:
    """Package dpspec-flavours. f-differential privacy: T(P_x, P_x') >= f on neighbours, and for k persons f composed k times
    as for a group.

    The budget is a curve, not a number; so it is written into the divergence, and counted in steps (`trade-off`). Here f is
    the curve of a bit that is reported twice, each time correctly with probability 2/3.
    """

def filtered(
    *,
    mechanism: Mechanism | str | Mapping[str, Any],
    where: Mapping[str, str | Sequence[str]],
    unit: str = ...,
) -> Mechanism:
    """Package dpspec-noise. T(the records that meet a condition): a release about some of the records.

    A change of a record that does not meet the condition, before or after, changes nothing (McSherry 2009). However many
    records a dataset has, few of them or none may meet the condition: T is a mechanism on the space of the datasets that
    may be left.

    Args:
        mechanism: T [object of the kind mechanisms].
        where: for some attributes, the categories that a record may have; all conditions are to be met [table of lists of
            texts].
        unit: whose records they are [text; default person].
    """

def fixed_p(
    *,
    posterior: NumberLike,
    ratio: NumberLike,
    p: NumberLike,
) -> Tolerance:
    """Package dpspec-attackers. r* = max(posterior/(p q), ratio) for one prior p of inclusion, such as the rate of a sample
    (Kazan 2025, Theorem 11).

    The trap of Theorem 11 is at p = posterior/ratio, where the printed form cancels; here it is one case of a stable root:

    Args:
        posterior: the tolerated posterior of it, whatever the ratio is then [rational in [0, 1)].
        ratio: the tolerated posterior by prior of "included, with a value in S", above 1 [rational in (1, inf)].
        p: the attacker's prior that the target is in the data; the share of a sample, for instance [rational in (0, 1]].
    """

def fixed_q(
    *,
    posterior: NumberLike,
    ratio: NumberLike,
    q: NumberLike = ...,
) -> Tolerance:
    """Package dpspec-attackers. r* = max(posterior/(p q), ratio) for one prior q of the value; q = 1: inclusion is the secret
    (Kazan 2025, Theorem 12).

    Args:
        posterior: the tolerated posterior of it, whatever the ratio is then [rational in [0, 1)].
        ratio: the tolerated posterior by prior of "included, with a value in S", above 1 [rational in (1, inf)].
        q: the attacker's prior that its value lies in S, if it is in the data; 1 when inclusion itself is the secret
            [rational in (0, 1]; default 1].
    """

def free_lunch_privacy() -> Flavour:
    """Package dpspec-flavours. Free-lunch privacy: P_x(S) <= e^epsilon P_x'(S) for all datasets x, x', whatever their
    distance.

    It protects whatever the attacker may assume about the data, and so lets nothing be learnt about everybody together
    either: Kifer and Machanavajjhala introduce it to show that.
    """

def ftrl(*, steps: Any, strategy: Any, noise_multiplier: Any, clip: Any = ..., delta: Any = ..., epsilon: Any = ...) -> SpecDocument:
    """Package dpspec-flavours. State a training run with correlated noise (DP-FTRL) of one epoch, which `verify` proves or
    refutes.

    Each record takes part in one step at most. Which one it is may be known: nothing is gained from shuffling or sampling.

    Args:
        steps: how many gradient steps, up to 10^6. The statement lists the matrix of up to 64 steps.
        strategy: the matrix C, a row for each released number and a column for each step; or "tree", the sums of all nodes
            of
            the binary tree that are complete within the steps (Kairouz et al. 2021); or "square-root", the square root of
                the
            matrix of prefix sums (Fichtenberger, Henzinger and Upadhyay 2023).
        noise_multiplier: the standard deviation of the noise on each row, in units of `clip`.
        clip: the largest l2 norm of the gradient of one record; the promise does not depend on it.
        delta: of (epsilon, delta), for one record added or removed.
        epsilon: the budget that is claimed; without it, the least one that is proved, rounded up to four decimals.

    Returns:
        the five blocks with the mechanism: `verify(ftrl(...))` judges it.

    Raises:
        ParameterError: numbers outside of their ranges, or a matrix of another shape.

    >>> run = ftrl(steps=8, strategy="tree", noise_multiplier=4)
    >>> print(run.spec.budget)
    epsilon = 19931/10000
    """

def function(
    *,
    function: str | Callable[..., NumberLike],
) -> Tolerance:
    """Package dpspec-attackers. Any function (p, q) -> r*, of exact rationals, that never grows with p or q; None or infinity
    where nothing is asked.

    Args:
        function: called with two Fractions in (0, 1]; what it returns is read as an exact number [function (p, q) ->
            tolerated ratio, or its place written module:name].
    """

def gaussian(
    *,
    queries: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]],
    neighbours: str = ...,
    unit: str = ...,
    sensitivity: NumberLike = ...,
    calibration: str | None = ...,
    epsilon: NumberLike | None = ...,
    delta: NumberLike | None = ...,
    variance: NumberLike | None = ...,
    scale: NumberLike | None = ...,
) -> Mechanism:
    """Package dpspec-noise. The Gaussian mechanism: q(x) + N(0, sigma^2), with sigma^2 given or calibrated to (epsilon,
    delta).

    Calibrations, s the L2 sensitivity:
      * ``lecture``: sigma^2 = (s/epsilon)^2 ln(1/delta), as printed in the lecture notes. The claim printed with it is
          *false*,
        for instance at epsilon = 0.5, delta = 1e-6, where the true delta is 4.16e-6;
      * ``standard``: sigma^2 = (s/epsilon)^2 2 ln(1.25/delta) (Dwork and Roth 2014, Theorem A.1). A calibrated variance is
          rounded up in its 64th bit, so that it is a rational number.

    Args:
        queries: the invariants whose integer answers are published [list of objects of the kind invariants].
        neighbours: the relation to which the stated sensitivity refers; add-remove in the lecture (Lecture notes 2025) [one
            of add-remove, replace-one, differ-in-one-position; default add-remove].
        unit: the unit that is added, removed or replaced [text; default person].
        sensitivity: s, the largest L2 change of all answers together between neighbours, in counts (Lecture notes 2025)
            [exact number in (0, inf); default 1].
        calibration: the formula of the variance, with [one of lecture, standard].
        epsilon: the claimed approximate budget; or [exact number in (0, inf)].
        delta: the claimed approximate budget; or [rational in (0, 1)].
        variance: sigma^2 itself, in counts squared; or [rational in (0, inf)].
        scale: sigma, in counts: a rational or the square root of one. It is kept as the variance [exact number in (0,
            inf)].
    """

def gaussian_dp() -> Flavour:
    """Package dpspec-flavours. Gaussian differential privacy: T(P_x, P_x') >= G_(mu d(x, x')), the curve of two unit Gaussians
    with this difference of means.
    """

def gaussian_trade_off() -> OutputDivergence:
    """Package dpspec-divergences. Gaussian privacy: the laws are at least as hard to distinguish as N(0, 1) and N(mu, 1)
    (Dong, Roth and Su 2022).

    d(P, Q) = the least mu with T(P, Q) >= G_mu, G_mu(a) = Phi(Phi^-1(1 - a) - mu); both directions say the same, since G_mu
    is its own inverse. Its budget is mu. It is exact for two Gaussians of one variance, and in a narrow bracket for laws
    with a bounded likelihood ratio; for others, such as discrete Gaussians, only a lower bound is known, which may refute
    and never verifies.

    It is a metric: T(P, Q) >= G_a and T(Q, R) >= G_b give T(P, R) >= G_b(1 - G_a), which is G_(a+b).
    """

def generic_dp() -> Flavour:
    """Package dpspec-flavours. Generic differential privacy: P_x(S) <= e^epsilon P_x'(S) for all pairs (x, x') of a given
    relation R.

    Here R holds between answers of three people with the same number of "yes", two of them exchanged: the neighbours of
    Kifer and Machanavajjhala after the exact total has been published.
    """

def geo_indistinguishability() -> Flavour:
    """Package dpspec-flavours. Geo-indistinguishability: P_x(S) <= e^(epsilon |x - x'|) P_x'(S) for locations x, epsilon per
    kilometre.
    """

def geometric(
    *,
    queries: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]],
    neighbours: str = ...,
    unit: str = ...,
    sensitivity: NumberLike = ...,
    epsilon: NumberLike | None = ...,
    ratio: NumberLike | None = ...,
    scale: NumberLike | None = ...,
) -> Mechanism:
    """Package dpspec-noise. Two-sided geometric noise: P(w) = (1-r)/(1+r) r^|w|, r = e^(-epsilon/sensitivity).

    Args:
        queries: the invariants whose integer answers are published [list of objects of the kind invariants].
        neighbours: the relation to which the stated sensitivity refers; add-remove in the lecture (Lecture notes 2025) [one
            of add-remove, replace-one, differ-in-one-position; default add-remove].
        unit: the unit that is added, removed or replaced [text; default person].
        sensitivity: the largest L1 change of all answers together between neighbours, in counts (Lecture notes 2025)
            [rational in (0, inf); default 1].
        epsilon: the claimed pure budget, or [exact number in (0, inf)].
        ratio: r, in (0, 1); the budget is then sensitivity ln(1/r); or [rational in (0, 1)].
        scale: that of Laplace noise, in counts: r = e^(-1/scale). It is kept as epsilon [rational in (0, inf)].
    """

def graphs(
    *,
    nodes: str | Sequence[str],
    directed: bool = ...,
    absent: bool = ...,
    most_degree: int | None = ...,
) -> DatasetSpace:
    """Package dpspec-flavours. Simple graphs on named nodes.

    A dataset is the pair (nodes, edges), each edge a pair of nodes; no edge joins a node with itself and none occurs twice.
    There are three units. A record of the unit *edge* is the pair of its ends, so that `symmetric-difference` with unit
    edge is the edge distance |E (-) E'|; a record of the unit *node* is the name of a node, whatever its edges; a record of
    the unit
    *element* is either, so that `symmetric-difference` with unit element is |V (-) V'| + |E (-) E'| (Hay et al. 2009). The
    distance of two graphs when a node counts with its edges is the input divergence `node-distance`.

    The coordinates are the possible edges, with values 0 and 1, after one for each node if nodes may be absent.

    Args:
        nodes: the names of all nodes there may be [list of texts].
        directed: whether the edge (a, b) differs from (b, a); if not, an edge names its ends in the order of `nodes` [true
            or false; default False].
        absent: whether nodes may be absent; without it all are always there [true or false; default False].
        most_degree: the largest number of edges at one node (in and out); without it, any number [integer in [0, inf)].
    """

def hadamard_response(
    *,
    attribute: str | None = ...,
    epsilon: NumberLike,
) -> Mechanism:
    """Package dpspec-noise. Hadamard response: a column of a Hadamard matrix, more likely one in which the row of the category
    has a 1.

    K is the least power of two above the number of categories, H(i, y) = (-1)^(number of common 1s of i and y in binary).
    Category i (counted from 0) has row i + 1, and every y below K is reported with probability

        e^epsilon / (K/2 (e^epsilon + 1))  where H(i + 1, y) = 1,     1 / (K/2 (e^epsilon + 1))  elsewhere

    (Acharya, Sun and Zhang 2019). Two rows differ in half of the columns: a quarter of all speaks for the one category, a
    quarter for the other. A report has log2 K bits, and costs epsilon for any number of categories. A column that is drawn
    uniformly, and one flipped bit of it (Bassily and Smith 2015), have the same a and b.

    Args:
        attribute: the attribute that is reported; the only one where it is not named [text].
        epsilon: the pure budget of one report, r + ln(q), r and q rational, q > 0 [exact number in [0, inf)].
    """

def hamming(
    *,
    unit: str = ...,
) -> InputDivergence:
    """Package dpspec-divergences. Unordered Hamming distance: half the multiset difference, between datasets of equal size
    only (Bailie, Gong and Meng 2023).

    d(x, x') = 1/2 |x (-) x'| if |x| = |x'|, else infinity: the least number of records to replace. It is a metric on the
    multisets of records of the unit; datasets that differ only in what these records do not show (their order, or vacant
    households when the unit is a person) are at distance 0.

    Args:
        unit: what one record is, such as person or household [text; default person].
    """

def hamming_ordered(
    *,
    unit: str = ...,
) -> InputDivergence:
    """Package dpspec-divergences. Ordered Hamming distance: the number of positions that differ.

    d(x, x') = #{i : x_i != x'_i}; infinity for sequences of unequal length.

    Args:
        unit: what one position is [text; default person].
    """

def hierarchical(
    *,
    priors: Sequence[NumberLike] = ...,
    distance: NumberLike = ...,
    worlds: Sequence[Sequence[str | int | Sequence[Any]]] = ...,
) -> AttackerModel:
    """Package dpspec-attackers. An attacker who does not know the other blocks, but has a prior about them (Kazan 2025).

    Mixtures of laws with the same weights are no easier to distinguish than the laws themselves, since the largest allowed
    power is concave in the level. So a bound for an attacker who knows all others holds here too, *if* the belief about the
    others is the same whichever is true of the target. That is so for a uniform prior of the group's count given the
    block's; a prior that is uniform up to a fixed number is not of that kind.

    Args:
        priors: p, the prior probability of what is true of the target, in (0, 1) [list of rationals in (0, 1); default
            ('1/2', '1/5', '1/10', '1/50')].
        distance: the largest distance of a dataset and its contrary, in the unit of the input divergence [exact number in
            (0, inf); default 1].
        worlds: pairs (x, x') of datasets, equally likely: the same others, and what is true of the target or its contrary;
            without them, in a small space of vectors, the target is the first entry, of whose values the worst two are
            taken, and the others are anything [list of lists of text, an integer, or a list of them].
    """

def hockey_stick(
    *,
    epsilon: NumberLike,
) -> OutputDivergence:
    """Package dpspec-divergences. The hockey-stick divergence at a fixed epsilon, the larger of the two directions.

    d(P, Q) = sup over events S of P(S) - e^epsilon Q(S), and the same with P and Q exchanged. Its budget is delta: on
    neighbours d <= delta is (epsilon, delta)-privacy, the same as `mult-delta` at that delta. They differ with the
    distance: two datasets at distance k are allowed k delta at the one epsilon here, and k epsilon at the one delta there.
    At epsilon = 0 it is the total variation; above 0 it is no metric (Barthe and Olmedo 2013).

    Args:
        epsilon: the log-ratio that is free, at least 0 [exact number in [0, inf)].
    """

def hockey_stick_dp() -> Flavour:
    """Package dpspec-flavours. Privacy in the hockey-stick divergence: P_x(S) - e^epsilon P_x'(S) <= delta for all neighbours
    x, x', at a fixed epsilon.

    It is approximate privacy with the roles of the two numbers exchanged: epsilon belongs to the divergence, delta is the
    budget.
    """

def households(
    *,
    household: Mapping[str, int | Sequence[str | int]] | Attribute | Mapping[str, Any] | Sequence[Attribute | Mapping[str, Any]],
    person: Mapping[str, int | Sequence[str | int]] | Attribute | Mapping[str, Any] | Sequence[Attribute | Mapping[str, Any]],
    least: int = ...,
    most: int | None = ...,
    members: int | None = ...,
) -> DatasetSpace:
    """Multisets of households, each with its own attributes and a multiset of persons.

    A dataset is a sorted tuple of households ``(household categories, sorted persons)``; a household without persons is a
    vacant housing unit. As records of the unit *household* it reads ``(*household categories, members)``; as records of the
    unit *person* ``(*household categories, *person categories)``, one for each person.

    In a file or on the command line a dataset is a list of such pairs: ``[[["county 1"], [["34", "f"]]], [["county 2"],
    []]]`` has two housing units, and a woman of 34 lives in the first.

    Args:
        household: the attributes of a household [list of tables of attribute parameters].
        person: the attributes of a person [list of tables of attribute parameters].
        least: the range of the number of households [integer in [0, inf); default 0].
        most: the range of the number of households [integer in [0, inf)].
        members: the largest number of persons in a household [integer in [0, inf)].
    """

def hunt(target: Any, *, out: Any = ..., answers: Any = ..., yes: Any = ..., seconds: Any = ..., trusted: Any = ..., ask: Any = ..., progress: Any = ...) -> CommandAnswer:
    """Package dpspec-hunt. Find functions that draw noise, infer what they claim, and check each: ``dpspec hunt``. `value` is
    a `Hunt`.

    A function is held against the blocks that its text, its parameters and its use of the dataset suggest. A verdict says
    no more
    than that: it is about this space, these neighbours and these numbers, and the guesses among them are listed with it.

    Args:
        target: a file, a folder, or the name of an installed package.
        out: a new folder for the report, the answers, and for each function a specification and a test.
        answers: what the functions claim, as a TOML file or a mapping: a table for each `module:name`.
        yes: accept guesses; they are marked.
        seconds: processor time for each function.
        trusted: where there is no jail, run the code with the rights of this process.
        ask: called with a plan whose guesses are to be accepted; returns further answers, or None to leave the function
            out.
        progress: called with (functions done, functions in all).

    Returns:
        the functions with their verdicts.

    Raises:
        ParameterError: there is no such target, or an answer makes no sense.
        ReleaseError: the folder exists, or cannot be written.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> source = "def total(count, epsilon, rng):\\n    return count + rng.laplace(0, 1 / epsilon)\\n"
    >>> _ = (folder / "survey.py").write_text(source)
    >>> found = hunt(folder).value
    >>> [(one.plan.drawing.place, str(one.outcome)) for one in found.functions]
    [('survey:total', 'asked')]
    """

def independent_record(
    *,
    inclusion: NumberLike = ...,
    value: NumberLike = ...,
) -> AttackerModel:
    """Package dpspec-attackers. An attacker who believes with probability p that the target is in the data, and then with q
    that its value lies in a set S.

    The relative risk, posterior by prior of "included, with a value in S", is at most 1/(p q + p (1 - q) e^(-2 epsilon) +
    (1 - p) e^(-epsilon)) for pure privacy with records added or removed (Kazan 2025, Theorem 4), for every S and every
    outcome. Where all have one size, only p = 1 is possible, and the bound is 1/(q + (1 - q) e^-epsilon) with the epsilon
    of a replaced record.

    Args:
        inclusion: p, the probability with which the record is in the data, in (0, 1] [rational in (0, 1]; default 1].
        value: q, the probability of its value given that it is in, in (0, 1]; p and q are not both 1 [rational in (0, 1];
            default 1/2].
    """

def individual_dp() -> Flavour:
    """Package dpspec-flavours. Individual differential privacy: e^-epsilon P_x(S) <= P_x*(S) <= e^epsilon P_x(S) for the
    neighbours x of the one x*.

    Noise calibrated to the local sensitivity at x* is enough: here 1, where it is 4 over the whole space.
    """

def induced_subspace_dp() -> Flavour:
    """Package dpspec-flavours. The remaining promise of subspace privacy for a release with exact invariants: privacy among
    datasets on which they agree.

    D_nor(P_x, P_x') <= sqrt(rho) d(x, x') for all x, x' with C v(x) = C v(x'): there the exact part is the same, and the
    rest is what the projection releases. Stated in the concentrated standard, where a bound for neighbours is one for all
    pairs.
    """

def infer(specification: Any, release: Any, *, model: Any, **settings: Any) -> CommandAnswer:
    """Package dpspec-inference. Estimate from a release; the likelihood is the law that the mechanism of the specification
    states.

    Only the release and the specification are read. Estimates are unbiased under the stated law. Posteriors are exact sums,
    quadrature with a stated error, or sampled with diagnostics and a seed.

    Args:
        specification: a specification that names the mechanism, or its file.
        release: the folder that `release` wrote, a released table, or a TOML or JSON file of released numbers.
        model: a model, its name, or a TOML file with its type and parameters.
        settings: parameters of a model that is given by its name or file.

    Returns:
        `estimates`, `posterior`, `facts`, `method`, `error` and `diagnostics`; `value` is the `Inference`. The exit code is
            3
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

def information_chamber(
    *,
    prior: str | Mapping[Any, NumberLike] | Sequence[tuple[Any, NumberLike]],
    position: int = ...,
    chamber: str = ...,
) -> AttackerModel:
    """Package dpspec-attackers. An attacker whose prior ties the target's record to some others, and who learns through all of
    them.

    Args:
        prior: pairs [dataset, probability] that sum to 1; condition it on what is public [list of pairs [dataset,
            probability] that sum to 1].
        position: which record is the target's, from 0 [integer in [0, inf); default 0].
        chamber: family, the corrected number of records; or printed, the Markov boundary with the record, which is refuted
            [one of family, printed; default family].
    """

def integer_counts(
    *,
    length: int = ...,
    low: int = ...,
    high: int | None = ...,
) -> DatasetSpace:
    """Vectors of k integers between two bounds: true query answers, or counts without records behind them.

    Args:
        length: k, the number of entries [integer in [1, inf); default 1].
        low: the least value of an entry, a count [integer; default 0].
        high: the largest value of an entry, a count; without it the entries are unbounded above [integer].
    """

def integer_program(
    *,
    nodes: int = ...,
) -> AttackerModel:
    """Package dpspec-attackers. An attacker who reconstructs from the tables that are published exactly, and looks at nothing
    else.

    For each value s of the secret, an integer program finds the largest number of records (k, s) in a dataset with the same
    published tables, k the known attributes of the target. The value with the largest number is named. Where one value
    alone is possible, every such dataset has it, and that is a claim to have identified the secret.

    Args:
        nodes: so many nodes of the search tree are looked at in one program; where it ends without an answer, the target is
            counted as undecided. A count and not a time, so that the score does not depend on the machine [integer in [1,
            inf); default 1000].
    """

def integer_subspace_dp() -> Flavour:
    """Package dpspec-flavours. Integer subspace privacy inside universes: `induced-subspace-dp` with integer noise, on the
    lattice {w : C w = 0}.

    The publication states (epsilon, delta) for the projection of neighbours, as in `subspace-dp`; a projection of integers
    need not be one, and what is filed here is what it leaves for datasets on which the invariants agree.
    """

def invariants(
    *,
    invariants: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]],
) -> Multiverse:
    """The level sets of a set of invariants: D_c(x) = {x' : c(x') = c(x)} (Bailie et al. 2024).

    Args:
        invariants: the invariants held [list of objects of the kind invariants].
    """

def invariants_dp() -> Flavour:
    """Package dpspec-flavours. Privacy under invariants: P_x(S) <= e^(epsilon d(x, x')) P_x'(S) for all x, x' with c(x) =
    c(x') (Bailie et al. 2024).
    """

def journalist(
    *,
    share: NumberLike | None = ...,
    population: int | None = ...,
    distance: NumberLike | None = ...,
) -> AttackerModel:
    """Package dpspec-attackers. The attacker who targets any person in the sample, whichever it is.

    Args:
        share: the share of the population that is drawn, in (0, 1] [rational in (0, 1]].
        population: how many records it has, from which the share follows; needed for the mechanism's own law [integer in
            [1, inf)].
        distance: how far apart two samples are in which one record is replaced; where the size of the data is fixed it is
            found [exact number in (0, inf)].
    """

def k_ary_response(
    *,
    attribute: str | None = ...,
    epsilon: NumberLike | None = ...,
    keep_probability: NumberLike | None = ...,
) -> Mechanism:
    """Package dpspec-noise. k-ary randomised response: the category itself with probability p, each of the other k - 1 with (1
    - p)/(k - 1).

    p = e^epsilon / (e^epsilon + k - 1) gives epsilon (Kairouz, Oh and Viswanath 2016, k-ary randomised response); any p
    gives |ln(p (k - 1) / (1 - p))|. A p that does not grow with k, such as e^epsilon / (e^epsilon + 1), is dearer for more
    categories.

    Args:
        attribute: the attribute that is reported, of k categories; the only one where it is not named [text].
        epsilon: the pure budget of one report, r + ln(q), r and q rational, q > 0, or [exact number in [0, inf)].
        keep_probability: p, the probability of the true category [rational in [0, 1]].
    """

def kept_cell_key(
    *,
    unit: str = ...,
    tables: Sequence[str | Sequence[str]],
    rows: Any | Sequence[Any],
    keys: int,
    key: str,
) -> Mechanism:
    """Package dpspec-census. The cell-key method with record keys that are kept: an attribute of the records, whose categories
    are "0", ..., "K-1".

    Args:
        unit: the unit that is counted [text; default person].
        tables: the tables, each a list of attributes; [] is the grand total [list of lists of texts].
        rows: the perturbation table: a row for each of the counts 1, 2, ..., the last one for all larger counts too [list
            of tables of perturbationrow parameters].
        keys: K, the number of keys that a cell can have [integer in [1, inf)].
        key: the attribute that is the record key [text].
    """

def l1() -> InputDivergence:
    """Package dpspec-divergences. The sum of the absolute differences: d(x, x') = sum |x_i - x'_i|, infinity for different
    sizes.
    """

def l2() -> InputDivergence:
    """Package dpspec-divergences. The Euclidean distance: d(x, x') = sqrt(sum |x_i - x'_i|^2), infinity for different sizes.
    """

def l_infinity() -> InputDivergence:
    """Package dpspec-divergences. The largest absolute difference: d(x, x') = max |x_i - x'_i|, infinity for different sizes.
    """

def label(specification: Any, universe_of: Any = ..., progress: Any = ...) -> CommandAnswer:
    """Package dpspec-deployments. One page for the people in the data: what is promised, whether it was checked, and what is
    not said.

    Args:
        specification: a specification or its file.
        universe_of: a table or a release's report; where budgets differ by universe, the number is that of its universe.
        progress: called with (done, in all).

    Raises:
        TableError: the table does not fit the space.
    """

def label_dp() -> Flavour:
    """Package dpspec-flavours. Label differential privacy: P_x(S) <= e^(epsilon d(x, x')) P_x'(S), d counts the labels that
    differ.

    The features are known to everybody: d is infinite where they differ, which is a Blowfish policy whose edges join the
    labels of one feature.
    """

def laplace(
    *,
    queries: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]],
    neighbours: str = ...,
    unit: str = ...,
    sensitivity: NumberLike = ...,
    epsilon: NumberLike | None = ...,
    scale: NumberLike | None = ...,
    variance: NumberLike | None = ...,
) -> Mechanism:
    """Package dpspec-noise. The Laplace mechanism: q(x) + Lap(b), b = sensitivity/epsilon, density e^(-|w|/b)/(2b) (Dwork,
    McSherry, Nissim and Smith 2006).

    Args:
        queries: the invariants whose integer answers are published [list of objects of the kind invariants].
        neighbours: the relation to which the stated sensitivity refers; add-remove in the lecture (Lecture notes 2025) [one
            of add-remove, replace-one, differ-in-one-position; default add-remove].
        unit: the unit that is added, removed or replaced [text; default person].
        sensitivity: the largest L1 change of all answers together between neighbours, in counts (Lecture notes 2025)
            [rational in (0, inf); default 1].
        epsilon: the claimed pure budget; or [exact number in (0, inf)].
        scale: b, in counts; the budget is then sensitivity/b; or [rational in (0, inf)].
        variance: 2 b^2, in counts squared. Both are kept as epsilon [rational in (0, inf)].
    """

def laplace_moments(
    *,
    attribute: str,
    low: NumberLike = ...,
    high: NumberLike = ...,
    epsilon_mean: NumberLike,
    epsilon_variance: NumberLike,
) -> Mechanism:
    """Package dpspec-inference. Mean and sample variance of n values in [a, b], each with Laplace noise (Kazan 2025, Section
    4.2.2).

    The mean has noise of the scale (b - a)/(epsilon_mean n), and the sample variance, with the divisor n - 1, noise of the
    scale (b - a)^2/(epsilon_variance n). Both together satisfy epsilon = epsilon_mean + epsilon_variance for one replaced
    value. The categories of the attribute are numbers, written as texts.

    Args:
        attribute: whose values they are [text].
        low: a and b, the public bounds, in the unit of the values [rational; default 0].
        high: a and b, the public bounds, in the unit of the values [rational; default 1].
        epsilon_mean: the budget epsilon of the mean, for one replaced value [exact number in (0, inf)].
        epsilon_variance: the budget epsilon of the variance, for one replaced value [exact number in (0, inf)].
    """

def laplace_regression(
    *,
    x: str,
    y: str,
    x_low: NumberLike = ...,
    x_high: NumberLike = ...,
    y_low: NumberLike = ...,
    y_high: NumberLike = ...,
    epsilon: NumberLike,
) -> Mechanism:
    """Package dpspec-inference. The five sums of a straight line, each with Laplace noise of the scale 1/epsilon (Kazan 2025,
    Section 4.5).

    With x and y mapped to [0, 1] by their bounds, the sums are those of x, x^2, y, xy and y^2 over the records. The
    categories of both attributes are numbers, written as texts.

    Args:
        x: the attributes [text].
        y: the attributes [text].
        x_low: their public bounds, each in the unit of its attribute [rational; default 0].
        x_high: their public bounds, each in the unit of its attribute [rational; default 1].
        y_low: their public bounds, each in the unit of its attribute [rational; default 0].
        y_high: their public bounds, each in the unit of its attribute [rational; default 1].
        epsilon: the budget of each sum, for one replaced record; the release spends 5 epsilon for one replaced record
            [exact number in (0, inf)].
    """

def lattice_gaussian(
    *,
    invariants: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]] | None = ...,
    moves: Sequence[Sequence[int]] | None = ...,
    variance: NumberLike,
) -> Mechanism:
    """Package dpspec-flavours. v(x) + W, W discrete Gaussian noise on the lattice {w integer : C w = 0}: P(w) proportional to
    e^(-|w|^2/(2 sigma^2)).

    The release is an integer vector in which the invariants are exact (Dharangutte, Gao, Gong and Yu 2022). For a lattice
    with pairwise orthogonal generators b the noise is sum_b K_b b with independent discrete Gaussians K_b of the parameter
    sigma^2/|b|^2, and for two datasets of one universe D_nor(P_x, P_x') = |v(x) - v(x')|_2 / (sigma sqrt(2)). Other
    lattices have no such product form and are refused.

    Args:
        invariants: what stays exact, each linear in the counts; the generators come from a reduced basis of the lattice. Or
            [list of objects of the kind invariants].
        moves: pairwise orthogonal generators themselves, changes of counts. A generator that is a multiple, or too few of
            them, leave more exact than intended [list of lists of integers].
        variance: sigma^2, in counts squared [rational in (0, inf)].
    """

def lecture_randomised_response() -> Mechanism:
    """Package dpspec-noise. The two-coin version: the truth with probability 1/2, else "yes" or "no" with probability 1/4 each
    (Lecture notes 2025).

    The same law as `RandomisedResponse` with p = 3/4, and so epsilon = ln 3.
    """

def linear_approximate_dp() -> Flavour:
    """Package dpspec-flavours. The linear form of approximate privacy: P_x(S) <= e^(epsilon d(x, x')) P_x'(S) + delta for all
    x, x', at one delta.

    It is stronger than the definition for neighbours, from which k persons have delta (1 + e^epsilon + ... + e^((k-1)
    epsilon)).
    """

def linear_f_divergence_privacy() -> Flavour:
    """Package dpspec-flavours. The linear form of privacy in an f-divergence: D_f(P_x || P_x') <= c d(x, x') for all x, x',
    here Kullback-Leibler.

    Stronger than the definition for neighbours: the divergence is no metric.
    """

def linear_hockey_stick_dp() -> Flavour:
    """Package dpspec-flavours. The linear form of hockey-stick privacy: P_x(S) - e^epsilon P_x'(S) <= delta d(x, x') for all
    x, x', at a fixed epsilon.

    For two persons it allows 2 delta at epsilon; from the definition for neighbours follows delta (1 + e^epsilon) at 2
    epsilon.
    """

def linear_map(
    *,
    rows: Sequence[Sequence[int]],
    label: str = ...,
) -> Invariant:
    """An integer linear map c(x) = A v(x), with v(x) the dataset as counts over the cells of the space.

    Args:
        rows: the rows of A: by how much each invariant changes for one record in each cell [list of lists of integers].
        label: what the map is, for people [text; default linear map].
    """

def linear_renyi_dp() -> Flavour:
    """Package dpspec-flavours. The linear form of Renyi privacy: D_2(P_x || P_x') <= epsilon d(x, x') for all x, x'.

    Stronger than the definition for neighbours: D_2 is no metric, and grows with the square of the distance for Gaussian
    noise.
    """

def listed_laws(
    *,
    laws: Any | Sequence[Any],
    otherwise: Mapping[str, NumberLike] | None = ...,
) -> Mechanism:
    """Package dpspec-flavours. A mechanism given law by law: for every dataset the probability of every outcome.

    Args:
        laws: rows (dataset, law) [list of tables of listedlaw parameters].
        otherwise: the law on every dataset that is not listed, a probability for each output; without it all of them must
            be [table of rationals in [0, 1]].
    """

def listed_pairs(
    *,
    pairs: Sequence[Sequence[str | int | Sequence[Any]]],
) -> Relation:
    """Package dpspec-flavours. An arbitrary relation R on the datasets, as a list of its pairs: the R of generic privacy
    (Kifer and Machanavajjhala 2011).

    Two datasets are neighbours when the pair is listed in one order or the other.

    Args:
        pairs: the pairs, each as two datasets in the way in which the space reads them [list of lists of text, an integer,
            or a list of them].
    """

def local_dp() -> Flavour:
    """Package dpspec-flavours. Local differential privacy: P_v(S) <= e^epsilon P_v'(S) for all values v, v' of one person, who
    trusts no other party.

    The dataset is one record, and the mechanism is what its owner runs before anything is sent. A protocol in one round
    satisfies it when the randomiser of each person does; that these run separately is a property of the program, not of its
    laws.
    """

def local_noise(
    *,
    query: Invariant | str | Mapping[str, Any],
    relation: Relation | str | Mapping[str, Any],
    epsilon: NumberLike,
    observed: str | int | Sequence[Any] | None = ...,
) -> Mechanism:
    """Package dpspec-flavours. q(x) plus two-sided geometric noise with P(w) proportional to e^(-epsilon |w| / LS), LS a local
    sensitivity of q.

    LS(x) = max over the neighbours x' of x of |q(x) - q(x')|_1. With LS = LS(x*) at one fixed dataset x*, the laws of x*
    and of its neighbours differ by at most epsilon: that is individual privacy (Soria-Comas et al. 2017). With LS(x) taken
    anew on each dataset the width of the noise itself distinguishes datasets. Where LS is 0 nothing is added.

    Args:
        query: q, with integer answers [object of the kind invariants].
        relation: which datasets are neighbours [object of the kind relations].
        epsilon: the loss per LS [exact number in (0, inf)].
        observed: x*; without it LS is that of each dataset [text, an integer, or a list of them].
    """

def lock(*paths: Any, lock: Any = ..., jobs: Any = ..., progress: Any = ...) -> CommandAnswer:
    """Package dpspec-guard. Verify specifications and write what was found into a lock file, one line for each file.

    Args:
        paths: files, and folders for the specifications directly in them; the folder of the lock without any.
        lock: the lock file, in a folder above all of them.
        jobs: so many processes; None for one for each processor where there are many files.
        progress: called with (done, in all).

    Returns:
        an answer with the records as data and the lock as `value`; `exit_code` is 0, whatever the verdicts are.

    Raises:
        DpspecError: a file cannot be read, and nothing is written.
    """

def marginal(
    *,
    attributes: str | Sequence[str],
    unit: str = ...,
    where: Mapping[str, str | Sequence[str]] = ...,
) -> Invariant:
    """The counts of the records of one unit by some of their attributes.

    c(x)[v] = number of records of the unit with attributes = v, among those that meet `where`. Without attributes it is one
    count. The attribute ``members`` of a household is its whole composition.

    Args:
        attributes: the attributes of the table [list of texts].
        unit: the unit that is counted [text; default person].
        where: for some attributes, the categories that are counted; the other records are left out [table of lists of
            texts].
    """

def membership_difference(
    *,
    releases: int = ...,
    method: str = ...,
    delta_each: NumberLike = ...,
    delta: NumberLike = ...,
    failure: NumberLike = ...,
    difference: NumberLike,
) -> Tolerance:
    """Package dpspec-attackers. |posterior - prior| <= difference for every prior: epsilon = 2 ln((1 + b)/(1 - b)) for one
    pure release (Kazan 2025).

    Args:
        releases: how many releases of the same data, one kind [integer in [1, inf); default 1].
        method: how they compose: basic, advanced, advanced-dwork, optimal-lattice, optimal; zcdp, zcdp-tail give rho [one
            of basic, advanced, advanced-dwork, optimal-lattice, optimal, zcdp, zcdp-tail; default optimal].
        delta_each: the delta of each release [rational in [0, 1); default 0].
        delta: the delta of all of them together [rational in [0, 1); default 0].
        failure: the probability that the bound does not hold; above delta, and above 0 under concentrated privacy [rational
            in [0, 1); default 0].
        difference: the tolerated change of the posterior against the prior [rational in (0, 1)].
    """

def membership_posterior(
    *,
    releases: int = ...,
    method: str = ...,
    delta_each: NumberLike = ...,
    delta: NumberLike = ...,
    failure: NumberLike = ...,
    posterior: NumberLike,
    prior: NumberLike = ...,
) -> Tolerance:
    """Package dpspec-attackers. posterior <= u for one prior: epsilon = logit(u) - logit(prior) for one pure release (Kazan
    2025, Corollary 32).

    Args:
        releases: how many releases of the same data, one kind [integer in [1, inf); default 1].
        method: how they compose: basic, advanced, advanced-dwork, optimal-lattice, optimal; zcdp, zcdp-tail give rho [one
            of basic, advanced, advanced-dwork, optimal-lattice, optimal, zcdp, zcdp-tail; default optimal].
        delta_each: the delta of each release [rational in [0, 1); default 0].
        delta: the delta of all of them together [rational in [0, 1); default 0].
        failure: the probability that the bound does not hold; above delta, and above 0 under concentrated privacy [rational
            in [0, 1); default 0].
        posterior: the tolerated posterior probability of membership [rational in (0, 1)].
        prior: the attacker's prior of membership [rational in [0, 1]; default 1/2].
    """

def membership_ratio(
    *,
    releases: int = ...,
    method: str = ...,
    delta_each: NumberLike = ...,
    delta: NumberLike = ...,
    failure: NumberLike = ...,
    ratio: NumberLike,
) -> Tolerance:
    """Package dpspec-attackers. 1/ratio <= posterior/prior <= ratio for every prior: epsilon = ln(ratio) for one pure release
    (Kazan 2025, Corollary 33).

    Args:
        releases: how many releases of the same data, one kind [integer in [1, inf); default 1].
        method: how they compose: basic, advanced, advanced-dwork, optimal-lattice, optimal; zcdp, zcdp-tail give rho [one
            of basic, advanced, advanced-dwork, optimal-lattice, optimal, zcdp, zcdp-tail; default optimal].
        delta_each: the delta of each release [rational in [0, 1); default 0].
        delta: the delta of all of them together [rational in [0, 1); default 0].
        failure: the probability that the bound does not hold; above delta, and above 0 under concentrated privacy [rational
            in [0, 1); default 0].
        ratio: the tolerated posterior by prior, above 1 [rational in (1, inf)].
    """

def metric(
    *,
    norm: str = ...,
    length: NumberLike = ...,
    over: str = ...,
) -> InputDivergence:
    """Package dpspec-flavours. The distance of locations under a norm, in a chosen unit of length: d_chi (Chatzikokolakis et
    al., PETS 2013).

    d(x, x') = |x - x'| / length for one location. For several it is the sum over the positions or, with `over` maximum, the
    largest of them, so that a whole trajectory is protected like one location.

    Args:
        norm: euclidean, manhattan (sum of the absolute coordinates), or maximum (largest absolute coordinate) [one of
            euclidean, manhattan, maximum; default euclidean].
        length: the length that counts as distance 1, in the units of the coordinates [rational in (0, inf); default 1].
        over: how the distances of several locations are put together, by sum or maximum. A sum of euclidean distances is
            refused, since square roots have no exact sum [one of sum, maximum; default sum].
    """

def metric_dp() -> Flavour:
    """Package dpspec-flavours. d-privacy: P_x(S) <= e^(epsilon d(x, x')) P_x'(S) for a metric d on the secrets, here a reading
    between 0 and 6.
    """

def metric_points(
    *,
    points: Mapping[str, Sequence[NumberLike]] = ...,
    grid: Sequence[int] = ...,
    spacing: NumberLike = ...,
    count: int = ...,
    unit: str = ...,
) -> DatasetSpace:
    """Package dpspec-flavours. Locations out of a list of named points in R^k: one of them, or a sequence (a trajectory, one
    location for each user).

    A dataset is the sequence of the names of its points. A grid is a list of points, too: those with coordinates 0, 1, ...
    in units of `spacing`, named by these numbers ("2,0").

    Args:
        points: the points, a table from name to coordinates; or [table of lists of rationals].
        grid: the number of places along each axis [list of integers in [1, inf)].
        spacing: the distance of neighbouring places of a grid, in units of length [rational in (0, inf); default 1].
        count: the number of locations in a dataset [integer in [1, inf); default 1].
        unit: what one location is [text; default location].
    """

def most_likely_record(
    *,
    most: int = ...,
) -> AttackerModel:
    """Package dpspec-attackers. An attacker who knows the law of the mechanism, and believes in every list of records that the
    published tables allow.

    All datasets x with as many records and the same published tables are equally likely as lists, and the target is one of
    the records, uniformly. Of the release t and the known attributes k of the target follows

        P(secret = s | k, t)  proportional to  sum over x of  (number of lists of x) * P_x(t) * (number of records (k, s) in
            x),

    and the most likely value is named. No attack that knows no more is right more often, over this belief. A posterior of 1
    is a claim to have identified the secret.

    Args:
        most: the largest number of datasets whose laws are computed [integer in [1, inf); default 5000].
    """

def mult() -> OutputDivergence:
    """Package dpspec-divergences. Multiplicative distance, the standard of pure differential privacy (Dwork, McSherry, Nissim
    and Smith 2006, Definition 1).

    d(P, Q) = sup over events S of |ln(P(S)/Q(S))|. A metric; its budget is epsilon.
    """

def mult_delta(
    *,
    delta: NumberLike,
) -> OutputDivergence:
    """Package dpspec-divergences. Approximate differential privacy: the least epsilon at a fixed delta (Dwork, Kenthapadi,
    McSherry, Mironov and Naor 2006).

    d(P, Q) = sup over S of max{ ln([P(S) - delta]+ / Q(S)), ln([Q(S) - delta]+ / P(S)), 0 }, which is at most epsilon
    exactly when P(S) <= e^epsilon Q(S) + delta and conversely. No metric; its budget is epsilon.

    Args:
        delta: the slack in probability, in [0, 1); part of the name of the divergence [rational in [0, 1)].
    """

def mult_one_way() -> OutputDivergence:
    """Package dpspec-flavours. The max-divergence, one direction of the multiplicative distance: d(P, Q) = sup over events S
    of ln(P(S)/Q(S)).

    It obeys the triangle inequality and is not symmetric: P is the law of the first dataset, from which d_X is measured
    too. Its budget is epsilon.
    """

def nearby_dataset(
    *,
    distance: InputDivergence | str | Mapping[str, Any],
    rate: NumberLike,
) -> Mechanism:
    """Package dpspec-flavours. The exponential mechanism on datasets: P_x(z) is proportional to e^(-rate d(x, z)) over all
    datasets z of X.

    Every ratio of two weights is at most e^(rate d(x, x')) by the triangle inequality, so the mechanism is 2 rate-Lipschitz
    for a metric d and `mult`, and rate-Lipschitz where the sum of the weights is the same for every x (McSherry and Talwar
    2007).

    Args:
        distance: d; datasets at infinite distance are never returned [object of the kind input_divergences].
        rate: the loss per unit of distance [exact number in [0, inf)].
    """

def nearest_donor() -> AttackerModel:
    """Package dpspec-attackers. An attacker who looks for the released records that are most like the target, and takes over
    their secret.

    The distance of two records is the number of known attributes in which they differ. Of the nearest records the most
    frequent secret is named. A single nearest record that agrees in all known attributes is a claim to have identified the
    target.
    """

def neighbour(
    *,
    relation: Relation | str | Mapping[str, Any],
) -> InputDivergence:
    """Package dpspec-divergences. 0 for equal datasets, 1 for neighbours, infinity otherwise (Bailie, Gong and Meng 2023).

    It is no metric: pairs that are not neighbours are not constrained, and in a universe without neighbour pairs nothing
    is.

    Args:
        relation: which datasets are neighbours (in one order or the other) [object of the kind relations].
    """

def network_dp() -> Flavour:
    """Package dpspec-flavours. Privacy of networks that grow: P_G(S) <= e^(epsilon (|V (-) V'| + |E (-) E'|)) P_G'(S), nodes
    and edges alike.
    """

def new_deployment(name: Any, answer: Any, directory: Any = ...) -> CommandAnswer:
    """Package dpspec-deployments. Ask for a release that was really made, and write its file.

    Args:
        name: its id, lower-kebab.
        answer: is called with each question; an empty text says that it is not known.
        directory: where it is written.
    """

def node_distance(
    *,
    removal_only: bool = ...,
) -> InputDivergence:
    """Package dpspec-flavours. The least number of nodes such that two graphs agree outside them.

    d(G, G') = min |S| over the sets S of nodes that hold every node present in one graph only and, of every edge that is in
    one graph only, at least one end: the nodes present in one only, and a smallest vertex cover of the edges that differ
    elsewhere. Unless degrees are bounded it is the path metric of "one node joins, leaves, or gets other edges". With
    `removal_only` a node of S that is present in both graphs counts twice, because it has to leave and to join again; on
    graphs whose nodes may be absent that is the path metric of "one node joins or leaves, with its edges" (the node privacy
    of Hay et al., ICDM 2009).

    Args:
        removal_only: whether a step can only remove or add a node [true or false; default False].
    """

def node_dp() -> Flavour:
    """Package dpspec-flavours. Node differential privacy: P_G(S) <= e^(epsilon d(G, G')) P_G'(S), d the number of nodes to add
    or remove.
    """

def noiseless_privacy() -> Flavour:
    """Package dpspec-flavours. Noiseless privacy: the inequality of (epsilon, delta)-privacy, where the data are random and
    the mechanism need not be.

    Three fair bits; P_x is the law of the output given one bit. The exact count keeps it with epsilon = ln 2, delta = 1/4.
    """

def noisy_max(
    *,
    query: Invariant | str | Mapping[str, Any],
    noise: str,
    rate: NumberLike,
) -> Mechanism:
    """Package dpspec-noise. The cell whose noisy count is the largest: report noisy max.

    Counts that all change in one direction, by at most Delta, cost rate Delta; others cost the rate times the span of the
    changes. For given noise of the others a cell is chosen from some threshold of its own noise on, and the change shifts
    that by no more (Dwork and Roth 2014, Claim 3.9; Ding, Kifer, Sayed, Steinke, Wang, Xiao and Zhang 2021). With
    exponential noise it is permute-and-flip (McKenna and Sheldon 2020), and some pair attains the bound; with the others
    pairs come as near as one likes.

    Args:
        query: the table [object of the kind invariants].
        noise: `laplace`, density rate/2 e^(-rate |w|); `exponential`, density rate e^(-rate w) for w >= 0; or `geometric`,
            on the integers, P(w) proportional to e^(-rate |w|). Of equal noisy counts the first in the order of the table
            is chosen [one of laplace, exponential, geometric].
        rate: the loss in nats for each count, 1/scale of the noise: r + ln(q), r and q rational; rational for `laplace`
            [exact number in (0, inf)].
    """

def nosy_neighbour(
    *,
    share: NumberLike | None = ...,
    population: int | None = ...,
    distance: NumberLike | None = ...,
) -> AttackerModel:
    """Package dpspec-attackers. The attacker who knows that a certain person is in the sample.

    Args:
        share: the share of the population that is drawn, in (0, 1] [rational in (0, 1]].
        population: how many records it has, from which the share follows; needed for the mechanism's own law [integer in
            [1, inf)].
        distance: how far apart two samples are in which one record is replaced; where the size of the data is fixed it is
            found [exact number in (0, inf)].
    """

def one_missing(
    *,
    size: int,
    posterior: NumberLike,
) -> Tolerance:
    """Package dpspec-attackers. One of n known individuals is missing from the data; who it is, is believed with probability
    at most `posterior` (Kazan 2025, equation 3.40).

    r*(1/n, 1) = n posterior: epsilon = ln((n - 1) posterior/(1 - posterior)).

    Args:
        size: n, the number of individuals [integer in [2, inf)].
        posterior: the tolerated posterior of it, whatever the ratio is then [rational in (0, 1)].
    """

def one_position(
    *,
    unit: str = ...,
) -> Multiverse:
    """Package dpspec-flavours. One universe for every position and everything outside it: the datasets that agree everywhere
    else.

    The label is (position from 0 on, records elsewhere); with a budget by position this is a budget for each person.

    Args:
        unit: what one position is [text; default person].
    """

def one_record() -> Multiverse:
    """Package dpspec-flavours. Two-point universes {x, x with one record r more}: the label is (r, x).

    Records are what the space counts in its cells (a household with its persons, for households). A budget by the part r
    depends on the value of the record.
    """

def one_sided(
    *,
    attribute: str,
    sensitive: str | Sequence[str],
    unit: str = ...,
) -> InputDivergence:
    """Package dpspec-flavours. The number of sensitive records replaced, in one direction (Doudalis et al. 2017).

    d(x, x') = number of records that x has and x' has not, when all of them are sensitive and |x| = |x'|; else infinity. A
    step replaces a sensitive record by any other, so that the way back is infinite when that one is not sensitive. It obeys
    the triangle inequality and is not symmetric, and belongs with `mult-one-way`: P_x(S) <= e^(epsilon d(x, x')) P_x'(S).

    Args:
        attribute: the policy: the attribute that decides [text].
        sensitive: the policy: its categories that are sensitive [list of texts].
        unit: the policy: what one record is [text; default person].
    """

def one_sided_dp() -> Flavour:
    """Package dpspec-flavours. One-sided privacy: a sensitive record might as well be any other record; the others may be
    published as they are.

    P_x(S) <= e^epsilon P_x'(S) when x' is x with one sensitive record replaced by another, and nothing the other way round
    unless that one is sensitive too (Doudalis, Kotsogiannis, Haney, Machanavajjhala and Mehrotra 2017). Both divergences
    are directed.
    """

def open_sample(
    *,
    attribute: str,
    sensitive: str | Sequence[str],
    unit: str = ...,
    keep_probability: NumberLike,
) -> Mechanism:
    """Package dpspec-flavours. Sensitive records are left out, and of the others each is published as it is with probability
    p, independently.

    When an open record takes the place of a sensitive one, every sample without it stays possible, at 1 - p times its
    probability: one-sided privacy with epsilon = ln(1/(1 - p)) (Doudalis et al. 2017).

    Args:
        attribute: the policy: the attribute that decides [text].
        sensitive: the policy: its categories that are sensitive [list of texts].
        unit: the policy: what one record is [text; default person].
        keep_probability: p in [0, 1], the probability with which an open record is published; at 1 a record that is missing
            is known to be sensitive (the exclusion attack) [rational in [0, 1]].
    """

def ordered_records(
    *,
    attributes: Mapping[str, int | Sequence[str | int]] | Attribute | Mapping[str, Any] | Sequence[Attribute | Mapping[str, Any]] = ...,
    least: int = ...,
    most: int | None = ...,
    unit: str = ...,
    **named: int | Sequence[str | int],
) -> DatasetSpace:
    """Sequences of records over named categorical attributes.

    Args:
        attributes: the attributes of a record [list of tables of attribute parameters].
        least: the range of the number of records; without `most` it is unbounded [integer in [0, inf); default 0].
        most: the range of the number of records; without `most` it is unbounded [integer in [0, inf)].
        unit: what one record is [text; default person].
        named: attributes by their names, each with its number of categories or their list.
    """

def pair_swapping(
    *,
    match: str | Sequence[str] = ...,
    swap: str | Sequence[str],
    swap_rate: NumberLike,
    rates: Any | Sequence[Any] = ...,
    unit: str = ...,
) -> Mechanism:
    """Package dpspec-census. In each stratum select each record with probability p, match the selected ones in pairs
    uniformly, one of an odd number being kept, and let each pair exchange its swap values.

    Two records have the constant |ln((1-p^2)/p^2)|/2 per unit; three different ones have none, since a table that one pair
    leads to may be out of reach from a neighbouring one.

    Args:
        match: the attributes that form the strata; () for one stratum [list of texts].
        swap: the attributes that move, all together [list of texts].
        swap_rate: p, the probability with which each record is selected [rational in [0, 1]].
        rates: the strata whose records are selected with a probability of their own [list of tables of stratumrate
            parameters].
        unit: the unit that one record is [text; default household].
    """

def parallel(
    *,
    attribute: str,
    parts: Any | Sequence[Any],
    unit: str = ...,
) -> Mechanism:
    """Package dpspec-noise. A mechanism for each part of the records, by an attribute: what one record adds or takes away
    concerns one of them.

    For one record added or removed the loss is the largest of the parts, not their sum; a record that moves from one part
    to another concerns both (McSherry 2009).

    Args:
        attribute: the attribute that defines the parts [text].
        parts: rows (categories, mechanism); no category is in two of them [list of tables of parallelpart parameters].
        unit: whose records they are [text; default person].
    """

def partial_knowledge() -> Flavour:
    """Package dpspec-flavours. Privacy under partial knowledge: the attacker knows some records, the others are random to him
    (active attackers).

    Elements are (secret, background, prior). Three fair bits, of which the attacker knows the second or none. One bit drawn
    in secret is answered for: against an attacker who knew all others, the loss would be ln(5/3).
    """

def path(
    *,
    relation: Relation | str | Mapping[str, Any],
) -> InputDivergence:
    """Package dpspec-divergences. The length of a shortest path between two datasets, each step between neighbours (Bailie,
    Gong and Meng 2023).

    The path runs through X, not through one universe; infinity when there is none. Where the space holds
    *all* datasets of its kind the distance has a closed form (`closed_form`), otherwise the datasets are listed and
    searched breadth first.

    Args:
        relation: which datasets are neighbours (in one order or the other) [object of the kind relations].
    """

def pbdp(
    *,
    delta: NumberLike,
) -> OutputDivergence:
    """Package dpspec-divergences. Probabilistically bounded privacy: the least epsilon whose loss is exceeded with probability
    delta at most, however the output is processed (Kifer et al. 2022, Definitions 5.2 to 5.4).

    d(P, Q) = ln(delta / a), where a is the least level at which a test of P against Q has the power delta, a = T(P, Q)^-1(1
    - delta); the larger of the two orders (Kifer et al. 2022, Section 5.2). It says: an event that has probability
    e^-epsilon delta at most under one law has probability delta at most under the other. The numbers for all delta together
    are the trade-off function; one alone is not convex (Kifer et al. 2022, Example 5.6): mixing two mechanisms may break
    it. No metric; its budget is epsilon.

    Args:
        delta: the probability, in (0, 1] [rational in (0, 1]].
    """

def per_instance_dp() -> Flavour:
    """Package dpspec-flavours. Per-instance differential privacy: e^-epsilon P_x(S) <= P_xz(S) <= e^epsilon P_x(S), epsilon =
    epsilon(x, z), for one pair.

    The pair is a dataset x and x with one record z added; each listed pair has its own budget.
    """

def per_record_dp() -> Flavour:
    """Package dpspec-flavours. Per-record differential privacy: P_x(S) <= e^(epsilon(r)) P_x'(S) where x and x' differ by one
    record of the value r.

    The policy epsilon(r) = s ln 2 for a firm of size s protects large firms less than small ones.
    """

def permutation_swapping(
    *,
    match: str | Sequence[str] = ...,
    swap: str | Sequence[str],
    swap_rate: NumberLike,
    rates: Any | Sequence[Any] = ...,
    unit: str = ...,
) -> Mechanism:
    """Package dpspec-census. As on the slides of 2024: select each record with probability p and give the selected records of
    a stratum each other's swap values by a uniform permutation, which may fix some of them.

    P(sigma) = sum over t of C(n-m, t) p^(m+t) (1-p)^(n-m-t) / (m+t)! for a permutation that moves m of n records.

    Args:
        match: the attributes that form the strata; () for one stratum [list of texts].
        swap: the attributes that move, all together [list of texts].
        swap_rate: p, the probability with which each record is selected [rational in [0, 1]].
        rates: the strata whose records are selected with a probability of their own [list of tables of stratumrate
            parameters].
        unit: the unit that one record is [text; default household].
    """

def personal_weights(
    *,
    weights: Sequence[NumberLike],
    unit: str = ...,
) -> InputDivergence:
    """Package dpspec-flavours. Ordered Hamming distance with a weight for each position: d(x, x') = sum over i of w_i [x_i !=
    x'_i].

    With the budget epsilon, position i is protected at epsilon_i = w_i epsilon (Jorgensen, Yu and Cormode 2015). A person
    with an infinite weight requires no protection at all.

    Args:
        weights: w_i > 0, one for each position; epsilon_i itself where the budget is epsilon = 1 [list of exact numbers in
            (0, inf)].
        unit: what one position is [text; default person].
    """

def personalised_budgets() -> Flavour:
    """Package dpspec-flavours. Personalised privacy with a budget for each person: P_x(S) <= e^(epsilon_i) P_x'(S) where only
    person i changes.

    For pure privacy it is the same promise as one number under the distance that weighs person i with epsilon_i.
    """

def personalised_dp() -> Flavour:
    """Package dpspec-flavours. Personalised privacy: everybody chooses a budget epsilon_i, and d weighs the change of person i
    by epsilon_i/epsilon.

    P_x(S) <= e^(epsilon_i) P_x'(S) for datasets that differ in person i (Jorgensen, Yu and Cormode 2015). They add or
    remove the record of a person; here that is a bit, 1 for a record that is there.
    """

def personalised_response(
    *,
    keep_probabilities: Sequence[NumberLike],
) -> Mechanism:
    """Package dpspec-flavours. Randomised response with a coin for each person: bit i is reported with probability p_i and
    flipped otherwise.

    Bit i is protected at epsilon_i = |ln(p_i / (1 - p_i))|, as personalised privacy requires.

    Args:
        keep_probabilities: p_i in [0, 1], the probability of the truth, one for each bit [list of rationals in [0, 1]].
    """

def point(
    *,
    ratio: NumberLike,
    p: NumberLike = ...,
    q: NumberLike = ...,
) -> Tolerance:
    """Package dpspec-attackers. r* = ratio for one attacker (p, q), nothing for others; at (1/2, 1) it is ln(ratio/(2 -
    ratio)) (Kazan 2025, Section 3.4).

    Args:
        ratio: the tolerated posterior by prior of "included, with a value in S", above 1 [rational in (1, inf)].
        p: the attacker's prior that the target is in the data; the share of a sample, for instance [rational in (0, 1];
            default 1/2].
        q: the attacker's prior that its value lies in S, if it is in the data; 1 when inclusion itself is the secret
            [rational in (0, 1]; default 1].
    """

def policy(
    *,
    edges: Sequence[Sequence[str | int | Sequence[Any]]],
    unit: str = ...,
) -> InputDivergence:
    """Package dpspec-flavours. The distance of a policy graph G on the values of a record (He, Machanavajjhala and Ding,
    SIGMOD 2014).

    d(x, x') = sum over the records i of the length of a shortest path from x_i to x'_i in G; infinity when there is none,
    or when the numbers of records differ. An edge means that an attacker must not be able to distinguish its two values;
    the complete graph gives the ordered Hamming distance, a line protects close values better than distant ones.

    A constraint of Blowfish (a fact that is public) is an invariant of the multiverse. The distance stays that of the whole
    space, so that datasets which only meet the constraint together pay for every changed record; for the neighbours of the
    paper, which pay once, see `policy-neighbours`.

    Args:
        edges: pairs of values, each as a category, or as a list of categories for records of several attributes [list of
            lists of text, an integer, or a list of them].
        unit: what one record is [text; default person].
    """

def policy_neighbours(
    *,
    edges: Sequence[Sequence[str | int | Sequence[Any]]],
    constraints: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]] = ...,
    unit: str = ...,
) -> Relation:
    """Package dpspec-flavours. Two datasets that meet the same constraints and differ in as few secrets as these allow (He et
    al., SIGMOD 2014).

    A secret in which x and x' differ is (i, x_i, x'_i) with an edge between the two values; T(x, x') is the set of these,
    and D(x, x') the set of all (i, x_i, x'_i) with x_i != x'_i. Then x and x' are neighbours when the invariants agree on
    them, T(x, x') is not empty, and no x'' on which the invariants agree, too, has (a) a non-empty T(x, x'') that is a
    proper part of T(x, x'), or (b) the same T and a D(x, x'') that is a proper part of D(x, x'). It may hold in one order
    only.

    Without constraints these are the datasets at `policy` distance 1. With constraints a neighbour pays once for all the
    records that have to change together, which no sum over records expresses.

    Args:
        edges: the policy graph: pairs of values, each as a category, or as a list of categories for records of several
            attributes [list of lists of text, an integer, or a list of them].
        constraints: the invariants that are public [list of objects of the kind invariants].
        unit: what one record is [text; default person].
    """

def possible_outputs(
    *,
    mechanism: Mechanism | str | Mapping[str, Any],
) -> Invariant:
    """Package dpspec-census. The outputs that a mechanism can give on a dataset: the support of its law.

    Args:
        mechanism: a mechanism whose laws have finitely many outcomes, with rational probabilities [object of the kind
            mechanisms].
    """

def post_processed(
    *,
    mechanism: Mechanism | str | Mapping[str, Any],
    at_least: int | None = ...,
    rounded_to: int | None = ...,
    hidden_below: int | None = ...,
) -> Mechanism:
    """Package dpspec-noise. f(T(x)): numbers of an output rounded, cut off or hidden, without a look at the data.

    A function of an output alone discloses no more than the output (Dwork, McSherry, Nissim and Smith 2006).

    Args:
        mechanism: T [object of the kind mechanisms].
        at_least: numbers below this are replaced by it [integer].
        rounded_to: numbers are rounded to multiples of this, halves upward [integer in [1, inf)].
        hidden_below: numbers below this, after all else, are not shown [integer].
    """

def pre_noise(
    *,
    mechanism: Mechanism | str | Mapping[str, Any],
    rate: NumberLike,
) -> Mechanism:
    """Package dpspec-census. Replace the swap values of each record by uniform ones with probability r, then swap.

    With r = 0 this is the swap itself. A drawn value may be the old one: a record changes with probability r (k - 1)/k at
    most, k being the number of joint values that are possible with its other values.

    Args:
        mechanism: the swap, derangement-swapping, permutation-swapping, pair-swapping or risk-swapping [object of the kind
            mechanisms].
        rate: r, the probability with which the swap values of a record are replaced [rational in [0, 1]].
    """

def projected_gaussian(
    *,
    invariants: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]],
    variance: NumberLike,
    projection_only: bool = ...,
) -> Mechanism:
    """Package dpspec-flavours. v(x) + P w, w standard Gaussian noise of a variance in every cell, P the projection onto {w : C
    w = 0}.

    The invariants C v(x) stay exact and the noise inside is isotropic, so that for C v(x) = C v(x')

        D_nor(P_x, P_x') = |v(x) - v(x')|_2 / (sigma sqrt(2)),

    the same as with noise in every cell (Gao, Gong and Yu 2022). The law is the point C v(x) times independent Gaussians
    <u, v(x)> + N(0, sigma^2 |u|^2) for an orthogonal integer basis of vectors u of the null space.

    Args:
        invariants: what stays exact; each must be linear in the counts [list of objects of the kind invariants].
        variance: sigma^2, in counts squared [rational in (0, inf)].
        projection_only: release P (v(x) + w) and keep C v(x) back, so that nothing is exact [true or false; default False].
    """

def pufferfish() -> Flavour:
    """Package dpspec-flavours. Pufferfish: Pr(M(Z) in S | s, theta) <= e^epsilon Pr(M(Z) in S | s', theta).

    This is required of all discriminative pairs s, s' of secrets and all priors theta under which both are possible. Here
    the secret is the first of two answers; the second is independent, equal in 3 of 4 cases, or a copy.
    """

def pure_dp() -> Flavour:
    """Package dpspec-flavours. Pure differential privacy: P_x(S) <= e^(epsilon d(x, x')) P_x'(S) for all events S (Dwork,
    McSherry, Nissim and Smith 2006, Definition 1).

    The definition requires d = 1; the rest follows, since `mult` is a metric and every pair is joined by a path of
    neighbours.
    """

def random_rounding(
    *,
    unit: str = ...,
    tables: Sequence[str | Sequence[str]],
    base: int,
) -> Mechanism:
    """Package dpspec-census. Every published count goes to one of the two multiples of the base around it, unbiased and each
    on its own.

    Two counts have common outcomes with the same support exactly when they lie strictly between the same two multiples.
    There a count that changes by 1 changes each probability r/b, 1 - r/b by a factor of at most 2, so that a replaced
    record, which changes two cells of each table but the grand total, has epsilon = 2 t ln 2 for t tables with attributes
    (0 for b <= 2, where such a count cannot change).

    Args:
        unit: the unit that is counted [text; default person].
        tables: the tables, each a list of attributes; [] is the grand total [list of lists of texts].
        base: b: counts are rounded to multiples of it [integer in [1, inf)].
    """

def randomised_response(
    *,
    keep_probability: NumberLike,
) -> Mechanism:
    """Package dpspec-noise. Warner's randomised response: each bit is reported with probability p and flipped otherwise
    (Warner 1965).

    P_x(t) = product over i of (p if t_i = x_i else 1 - p), which satisfies epsilon = |ln(p/(1-p))| per bit (Bailie et al.
    2024).

    Args:
        keep_probability: p, the probability of the truth, in (0, 1) [rational in (0, 1)].
    """

def record_weights(
    *,
    attribute: str,
    weights: Mapping[str, NumberLike],
    otherwise: NumberLike | None = ...,
    unit: str = ...,
) -> InputDivergence:
    """Package dpspec-flavours. Symmetric difference with weights: d(x, x') = sum of w(r) over the records r added or removed
    (Ebadi et al. 2015).

    The weight of a record is that of its category of one attribute, such as the person whose record it is, so that a budget
    epsilon protects the presence of r at w(r) epsilon (Ebadi, Sands and Schneider 2015).

    Args:
        attribute: the attribute that decides [text].
        weights: a table from category to weight, above 0 [table of exact numbers in (0, inf)].
        otherwise: the weight of the categories that are not listed; without it all of them must be [exact number in (0,
            inf)].
        unit: what one record is [text; default person].
    """

def records(
    *,
    attributes: Mapping[str, int | Sequence[str | int]] | Attribute | Mapping[str, Any] | Sequence[Attribute | Mapping[str, Any]] = ...,
    least: int = ...,
    most: int | None = ...,
    unit: str = ...,
    **named: int | Sequence[str | int],
) -> DatasetSpace:
    """Multisets of records over named categorical attributes.

    Args:
        attributes: the attributes of a record [list of tables of attribute parameters].
        least: the range of the number of records; without `most` it is unbounded [integer in [0, inf); default 0].
        most: the range of the number of records; without `most` it is unbounded [integer in [0, inf)].
        unit: what one record is [text; default person].
        named: attributes by their names, each with its number of categories or their list.
    """

def registry_export(specification: Any, out: Any, authors: Any = ...) -> CommandAnswer:
    """Package dpspec-deployments. Write a specification as a record of the deployments registry. `value` is the record.

    Args:
        specification: a specification or its file.
        out: the record: lower-case letters, digits, _ and .yaml.
        authors: who writes the record, where the file does not say it.
    """

def registry_import(*paths: Any, out: Any) -> CommandAnswer:
    """Package dpspec-deployments. Make a specification file of each record of the deployments registry. `value` has the
    records.

    Args:
        paths: records, or directories, which mean every \\*.yaml directly in them.
        out: the folder for the files.
    """

def release(specification: Any, table: Any, out: Any, *, account: Any = ..., fit: Any = ..., period: Any = ..., **options: Any) -> Any:
    """Package dpspec-release. Draw one release of a table by the mechanism of a specification, and write it to a directory.

    Args:
        specification: a specification or its file; its claim is verified first.
        table: a table file, a directory with households and persons, the name of a registered table, or a data frame
            (pandas,
            polars, pyarrow).
        out: the directory for the released tables and ``report.json``.
        account: the place of a budget account, in which the release is reserved before anything is drawn.
        period: with an account that has periods, the one whose data the release is about; without it, that of today.
        fit: with an account, add as much noise as the rest of the budget needs, where the release is over the cap.
        options: `seed` (for tests and audits: not fit for publication), `workers`, `resume`, `suffix`, `margins` (also
            write the 95 % margin of each number, in the column margin_95), `unverified` (release although the claim is not
            verified: not fit for publication), `memory` (the bytes that the release may use; by default half of the machine
            or its container).

    Returns:
        what ``report.json`` says.

    Raises:
        RefutedReleaseError: the claim is refuted.
        UnverifiedReleaseError: the claim is not verified, and `unverified` is not set.
        ReleaseError and its kin: the table does not fit, or the release cannot be written.
    """

def release_invariants(
    *,
    invariants: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]],
) -> Mechanism:
    """T(x) = c(x): publish the invariants exactly (Bailie, Gong and Meng 2023).

    Inside the universes of its own invariants its law does not vary, so it has budget 0 there (Bailie, Gong and Meng 2023);
    it is the mechanism that separates a multiverse from a coarser one.

    Args:
        invariants: c [list of objects of the kind invariants].
    """

def renyi(
    *,
    order: NumberLike,
) -> OutputDivergence:
    """Package dpspec-divergences. Renyi divergence of one order, the larger of the two directions (Mironov 2017, Definition
    3).

    d(P, Q) = max(D_alpha(P||Q), D_alpha(Q||P)) with D_alpha(P||Q) = ln(sum p^alpha q^(1-alpha)) / (alpha - 1). No metric;
    its budget is epsilon at that order.

    Args:
        order: alpha > 1, a number without a unit [rational in (1, inf)].
    """

def renyi_dp() -> Flavour:
    """Package dpspec-flavours. Renyi differential privacy of one order: D_2(P_x || P_x') <= epsilon for all neighbours x, x'
    (Mironov 2017, Definition 4).
    """

def repeated(
    *,
    mechanism: Mechanism | str | Mapping[str, Any],
    times: int,
) -> Mechanism:
    """Package dpspec-noise. T(x) many times with independent randomness, as the steps of a training run: composed of equal
    parts.

    Where T draws a sample, each repetition draws another one. A later step may depend on the outputs of earlier ones, as
    long as T bounds it: pairs of laws that dominate each step dominate all steps together (Zhu, Dong and Wang 2022, Theorem
    10).

    Args:
        mechanism: T [object of the kind mechanisms].
        times: how often it is released [integer in [1, 1000000000]].
    """

def replace_one(
    *,
    unit: str = ...,
) -> Relation:
    """Package dpspec-divergences. Bounded neighbours: equally many records, one of them replaced (Bailie, Gong and Meng 2023).

    x ~ x' when |x| = |x'| and the multisets of records differ by one removed and one added.

    Args:
        unit: what one record is [text; default person].
    """

def resamples(
    *,
    centres: Sequence[str | int | Sequence[Any]] | None = ...,
    unit: str = ...,
) -> Multiverse:
    """Package dpspec-flavours. The universe of resamples of x*: datasets with as many records as x*, each equal to some record
    of x* (bootstrap).

    The label is ("resamples of", x*).

    Args:
        centres: the observed datasets x*; without them every dataset is one [list of text, an integer, or a list of them].
        unit: what one record is [text; default person].
    """

def restricted_sensitivity() -> Flavour:
    """Package dpspec-flavours. Restricted sensitivity: noise for the datasets of a hypothesis H, privacy for all datasets
    (Blocki et al. 2013).

    Amounts are 0, 1 or 4, and H is that no record exceeds 1. The sum is 1-Lipschitz on H; the sum of amounts cut off at 1
    agrees with it there and is 1-Lipschitz everywhere. That the answer is right on H is no part of a five-tuple: see
    docs/beyond-the-five-blocks.md.
    """

def reveal_by_chance(
    *,
    mechanism: Mechanism | str | Mapping[str, Any],
    chance: NumberLike,
) -> Mechanism:
    """Package dpspec-flavours. Publishes the dataset with some probability, and otherwise applies another mechanism; the
    outcome shows which.

    When the other is epsilon-private and the probability is at most delta, this is (epsilon, delta)-private, and not pure
    for any epsilon: the events that only one of two datasets can show have probability `chance` (Dwork, Kenthapadi,
    McSherry, Mironov and Naor 2006).

    Args:
        mechanism: the mechanism that is applied otherwise [object of the kind mechanisms].
        chance: the probability of publishing the data, the same for every dataset [rational in [0, 1]].
    """

def risk_swapping(
    *,
    match: str | Sequence[str] = ...,
    swap: str | Sequence[str],
    swap_rate: NumberLike,
    rates: Any | Sequence[Any] = ...,
    unit: str = ...,
    rate: Any | Sequence[Any],
    algorithm: str = ...,
) -> Mechanism:
    """Package dpspec-census. Derangement or permutation swapping in which the rate of a record depends on how easily it is
    recognised.

    Args:
        match: the attributes that form the strata; () for one stratum [list of texts].
        swap: the attributes that move, all together [list of texts].
        swap_rate: p, the probability with which each record is selected [rational in [0, 1]].
        rates: the strata whose records are selected with a probability of their own [list of tables of stratumrate
            parameters].
        unit: the unit that one record is [text; default household].
        rate: conditions with their rates; the first one that a record meets counts, and `swap_rate` where it meets none
            [list of tables of riskrate parameters].
        algorithm: what the selected records of a stratum do: derangement or permutation [one of derangement, permutation;
            default derangement].
    """

def rules_audit(*folders: Any, rules: Any, later: Any = ..., certificate: Any = ..., secret: Any = ..., known: Any = ..., records: Any = ...) -> CommandAnswer:
    """Package dpspec-disclosure. Which suppressed cells published tables determine together. `value` has the range of each.

    Args:
        folders: one release each, the first one first.
        rules: the rule file.
        later: how each population follows from the one before: same, grows, any, or changes=N.
        certificate: write the proofs into this file; it holds the numbers of cells that can be recomputed.
        secret: an attribute that attackers want to learn of one person.
        known: the attributes that they know of that person.
        records: a file of all records, for the attacker who knows all but one.
    """

def rules_check(folder: Any, rules: Any) -> CommandAnswer:
    """Package dpspec-disclosure. Hold every \\*.csv in a folder to a file of rules of disclosure control. `value` has what was
    found.

    Args:
        folder: the folder, with those in it.
        rules: the rule file.
    """

def rules_compare(first: Any, second: Any, total: Any = ...) -> CommandAnswer:
    """Package dpspec-disclosure. Which of two rule files lets more be inferred. `value` is the comparison.

    Args:
        first, second: the rule files.
        total: of magnitudes, look at cells up to this total; 12, where it is left out.
    """

def rules_design(folder: Any, rules: Any, keep: Any = ..., by: Any = ..., out: Any = ...) -> CommandAnswer:
    """Package dpspec-disclosure. The pattern of suppression with the least disclosure among all that keep a level of detail.
    `value` is the design.

    Args:
        folder: the unprotected tables.
        rules: the rule file.
        keep: attributes with commas, such as "region,age": cells of no other attributes stay published.
        by: "cells", "records" or "total": the cost of a suppressed cell.
        out: write the protected tables into this new folder.
    """

def rules_show(path: Any) -> CommandAnswer:
    """Package dpspec-disclosure. The definition of each step of a rule file, with formula and source. `value` has the rules.

    Args:
        path: the rule file.
    """

def safetab(
    *,
    populations: Any | Sequence[Any],
    levels: Any | Sequence[Any],
    budget: NumberLike,
    unit: str = ...,
) -> Mechanism:
    """Package dpspec-census. Adaptive tables with discrete Gaussian noise: rho-zCDP (Bailie, Gong and Meng 2023; Bailie et al.
    2024).

    Args:
        populations: the population levels [list of tables of populationlevel parameters].
        levels: the iteration levels; their shares add up to exactly 1 [list of tables of iterationlevel parameters].
        budget: rho, the concentrated budget of all stages together, a rational [exact number in (0, inf)].
        unit: whose records are counted, and what the claim protects [text; default person].
    """

def safetab_geometric(
    *,
    populations: Any | Sequence[Any],
    levels: Any | Sequence[Any],
    budget: NumberLike,
    unit: str = ...,
) -> Mechanism:
    """Package dpspec-census. Adaptive tables with two-sided geometric noise: epsilon-DP.

    Args:
        populations: the population levels [list of tables of populationlevel parameters].
        levels: the iteration levels; their shares add up to exactly 1 [list of tables of iterationlevel parameters].
        budget: epsilon; where it is made of logarithms of rationals the law is exact [exact number in (0, inf)].
        unit: whose records are counted, and what the claim protects [text; default person].
    """

def sampling_outsider(
    *,
    share: NumberLike | None = ...,
    population: int | None = ...,
    distance: NumberLike | None = ...,
) -> AttackerModel:
    """Package dpspec-attackers. The attacker who knows every record of the population, but not which of them are in the
    sample.

    Args:
        share: the share of the population that is drawn, in (0, 1] [rational in (0, 1]].
        population: how many records it has, from which the share follows; needed for the mechanism's own law [integer in
            [1, inf)].
        distance: how far apart two samples are in which one record is replaced; where the size of the data is fixed it is
            found [exact number in (0, inf)].
    """

def secrets(
    *,
    base: DatasetSpace | str | Mapping[str, Any],
    secrets: Any | Sequence[Any],
    priors: Any | Sequence[Any],
    backgrounds: Any | Sequence[Any] = ...,
) -> DatasetSpace:
    """Package dpspec-flavours. Pairs (secret, prior) of positive probability, or triples (secret, background, prior).

    A pair represents the prior conditioned on the secret (Pufferfish, Kifer and Machanavajjhala 2014). With backgrounds,
    the prior knowledge of an attacker, it represents the prior conditioned on both (partial knowledge, Desfontaines et al.
    2022).

    Args:
        base: the space of ordinary datasets [object of the kind spaces].
        secrets: the secrets to be distinguished, such as "the first record is 1" [list of tables of dataevent parameters].
        priors: the distributions of the data that attackers believe in [list of tables of datalaw parameters].
        backgrounds: the possible knowledge of attackers; none means attackers who know nothing but the prior [list of
            tables of dataevent parameters].
    """

def sgd(*, steps: Any, rate: Any, noise_multiplier: Any, clip: Any = ..., delta: Any = ..., epsilon: Any = ...) -> SpecDocument:
    """Package dpspec-flavours. State a training run with differentially private gradient descent, which `verify` proves or
    refutes.

    Args:
        steps: how many gradient steps.
        rate: the probability with which each record takes part in a step, independently of all others (Poisson sampling).
            Batches of a fixed size, or of a shuffled dataset, are other mechanisms, to which the statement does not apply.
        noise_multiplier: the standard deviation of the noise, in units of `clip`.
        clip: the largest l2 norm of the gradient of one record; the promise does not depend on it.
        delta: of (epsilon, delta), for one record added or removed.
        epsilon: the budget that is claimed; without it, the least one that is proved, rounded up to four decimals.

    Returns:
        the five blocks with the mechanism: `verify(sgd(...))` judges it.

    Raises:
        ParameterError: numbers outside of their ranges.

    >>> run = sgd(steps=1_000, rate="1/100", noise_multiplier=4)
    >>> print(run.spec.budget)
    epsilon = 1361/5000
    """

def shuffle_dp() -> Flavour:
    """Package dpspec-flavours. Differential privacy in the shuffle model: the multiset of all reports is (epsilon,
    delta)-private on neighbours.

    Who trusts a shuffler to take the names off can send a less noisy report. The shuffler is a part of the mechanism.
    """

def shuffled(
    *,
    mechanism: Mechanism | str | Mapping[str, Any],
) -> Mechanism:
    """Package dpspec-flavours. The shuffled output of a mechanism that answers with a sequence: the multiset of its reports
    (Cheu et al. 2019).

    A uniformly random order of the reports and their multiset determine the same laws up to randomness that is free of the
    data, so that every output divergence gives both the same number. Where every dataset has n records at least, the others
    hide one of them: n - 1 of them may be clones of what it says (Feldman, McMillan and Talwar 2021). Pure privacy gains
    nothing, as all others may happen to say what is rare.

    Args:
        mechanism: gives a sequence of reports, one for each person [object of the kind mechanisms].
    """

def site(*specifications: Any, out: Any, title: Any = ..., jobs: Any = ..., progress: Any = ...) -> CommandAnswer:
    """Package dpspec-report. Write what `write_report` says as a page for each specification with an index, into a new folder.
    `value` has all of it.

    Args:
        specifications, title, jobs, progress: as in `write_report`.
        out: the folder.

    Raises:
        ReleaseError: the folder exists.
    """

def staircase(
    *,
    queries: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]],
    neighbours: str = ...,
    unit: str = ...,
    width: NumberLike,
    inner: NumberLike,
    epsilon: NumberLike,
    on_line: bool = ...,
) -> Mechanism:
    """Package dpspec-noise. Noise whose density falls in steps: e^-(epsilon k) at a distance of k steps, one step less in the
    outer part of each (Geng and Viswanath 2014).

    One answer that changes by at most `width` loses epsilon, whatever it changes by; with the best `inner` no noise for it
    has a smaller mean. Losses do not shrink with the change, as those of Laplace noise do: k answers that move by width/k
    each lose k epsilon together.

    Args:
        queries: the invariants whose integer answers are published [list of objects of the kind invariants].
        neighbours: the relation to which the stated sensitivity refers; add-remove in the lecture (Lecture notes 2025) [one
            of add-remove, replace-one, differ-in-one-position; default add-remove].
        unit: the unit that is added, removed or replaced [text; default person].
        width: the width of a step in counts: by so much one answer changes at most [rational in (0, inf)].
        inner: the width of the first, higher part of each step; on the line 1/(1 + e^(epsilon/2)) of the width is best
            [rational in (0, inf)].
        epsilon: the loss of one step, such that e^epsilon is an exact number [exact number in (0, inf)].
        on_line: whether the noise is a number of the line and not a whole one. It is not released then [true or false;
            default False].
    """

def star(
    *,
    centres: Sequence[str | int | Sequence[Any]] | None = ...,
    relation: Relation | str | Mapping[str, Any],
) -> Multiverse:
    """Package dpspec-flavours. Two-point universes {x*, x} for every neighbour x of a centre x* (individual privacy).

    The centre is compared with its neighbours, and these not with each other. The label is the pair, smaller dataset first;
    with every dataset a centre the universes are all neighbour pairs.

    Args:
        centres: the datasets x*; without them every dataset is one [list of text, an integer, or a list of them].
        relation: which datasets are neighbours [object of the kind relations].
    """

def strata(
    *,
    attribute: str,
    unit: str = ...,
) -> Multiverse:
    """Package dpspec-flavours. One universe for every stratum and everything outside it: the datasets that agree outside the
    stratum.

    The label is (stratum, records outside). In an ordered space the records of the stratum are masked by None, so that
    those outside keep their positions. A record that moves from one stratum to another is in no universe with what it was
    before.

    Args:
        attribute: the attribute whose categories are the strata [text].
        unit: what one record is [text; default person].
    """

def stratified_dp() -> Flavour:
    """Package dpspec-flavours. Stratified differential privacy: P_x(S) <= e^(epsilon_s d(x, x')) P_x'(S) for x, x' that agree
    outside the stratum s.

    Bun et al. (2022), who are cited for the name, analyse what sampling by strata does to ordinary differential privacy; a
    budget for each stratum is the reading filed here, and no publication is known to us that states it.
    """

def strong_membership(
    *,
    priors: Sequence[NumberLike] = ...,
    failure: NumberLike = ...,
) -> AttackerModel:
    """Package dpspec-attackers. An attacker who knows every other record and the value of the target's record, and tests
    whether it is included.

    Each statement holds for every outcome but those of total probability `failure`, whether the target is in the data or
    not.

    Args:
        priors: probabilities of membership that the attacker believes before, in (0, 1) [list of rationals in [0, 1];
            default (1/100, 1/10, 1/2)].
        failure: the probability with which a statement may fail; it has to be above the delta of approximate privacy, and
            above 0 for concentrated privacy [rational in [0, 1); default 0].
    """

def strongest(
    *,
    priors: Sequence[NumberLike] = ...,
    factors: Sequence[NumberLike] = ...,
    distance: NumberLike = ...,
    datasets: Sequence[str | int | Sequence[Any]] = ...,
) -> AttackerModel:
    """Package dpspec-attackers. An attacker who knows all records but the target's, has a prior on that one, and sees the
    release.

    Posterior odds are prior odds times the likelihood ratio, so that the log-odds move by the privacy loss: by epsilon at
    most under pure privacy, and under other standards by more, with a probability that is bounded:

        P(ratio >= F | true record) <= D(F),    P(ratio >= F | prediction) <= D(F)/F,

    with D(F) the largest P(S) of two allowed laws and an event with P(S) >= F Q(S). The second holds because predicting the
    outcome means drawing it from the mixture that the ratio has below. Both are attained by some mechanism at some prior.

    Args:
        priors: beliefs in a candidate before the release, in (0, 1) [list of rationals in (0, 1); default ('1/100', '1/10',
            '1/2')].
        factors: growths of the belief, above 1 [list of rationals in (1, inf); default ('2', '5', '10')].
        distance: the distance of two datasets with different candidates, in the unit of the input divergence [exact number
            in (0, inf); default 1].
        datasets: the datasets that are evaluated for the mechanism's own law; by default all, or the smallest of a large
            space [list of text, an integer, or a list of them].
    """

def study(table: Any, question: Any = ..., *, out: Any, codebook: Any = ..., runs: Any = ..., seed: Any = ..., progress: Any = ...) -> CommandAnswer:
    """Package dpspec-study. Compare seven designs of a release at equal attacker risk, and recommend one: ``dpspec study``.
    `value` is a `Study`.

    Recommended is the design with the least expected error among those whose promise is verified on the whole space and
    whose
    risk in the worst universe is proved to be at most the target. The risk is the power of the best test, at a
    level, between two tables that differ by one exchange of values between two records.

    Args:
        table: a table file, or a data frame (pandas, polars, pyarrow).
        question: what is to be published, as a TOML file or a mapping (`dpspec_study.question`); without it, the table of
            counts
            of the first two columns.
        out: the folder of the study, which must not exist. Its folder ``confidential`` holds what is computed from the
            table.
        codebook: a CSV with column, value, label: categories that were public before the data.
        runs: how many releases are simulated of a design whose law is not known.
        seed: the seed of these runs.
        progress: called with (steps done, steps in all).

    Returns:
        the recommendation, the designs with their risks and errors, and the commands of the steps.

    Raises:
        ReleaseError: the folder exists, or cannot be written.
        TableError and its kin: the table cannot be read, or has no such column.
        MissingKeyError, UnknownKeyError, WrongShapeError, ParameterError: the question is none.
        NotEnumerableError: the table of counts has too many cells.
    """

def subsampled(
    *,
    mechanism: Mechanism | str | Mapping[str, Any],
    rate: NumberLike | None = ...,
    size: int | None = ...,
    samples: DatasetSpace | str | Mapping[str, Any] | None = ...,
    publishes_sample: bool = ...,
) -> Mechanism:
    """Package dpspec-flavours. A mechanism on a random sample of the records; the dataset is the frame before sampling (Bailie
    et al. 2024).

    P_x = sum over samples s of Pr(s) M(x_s). With each record kept independently with probability p, an eps-DP mechanism
    for one record added or removed becomes ln(1 + p (e^eps - 1))-DP; for one record replaced that is so with a fixed share
    p = m/n of the records (Balle, Barthe and Gaboardi 2018). Both need an M that does not look at the order: a sample
    without a record has its later records at other places. Neither holds when the sample is published (Bailie et al. 2024).

    Args:
        mechanism: M, on the space of samples [object of the kind mechanisms].
        rate: p, the probability with which each record is kept, or [rational in [0, 1]].
        size: m, how many records are drawn without replacement (all, where there are fewer) [integer in [0, inf)].
        samples: the space of the samples, such as one of fewer records; without it, that of the datasets with as many
            records as a sample may have [object of the kind spaces].
        publishes_sample: whether the positions of the sampled records are published, too [true or false; default False].
    """

def subspace_dp() -> Flavour:
    """Package dpspec-flavours. Subspace differential privacy: what is released inside the null space of C is (epsilon,
    delta)-private for all neighbours.

    With P the projection on {w : C w = 0}: Pr(P M(x) in S) <= e^epsilon Pr(P M(x') in S) + delta for datasets that differ
    in a record added or removed, whatever C v is on them. The disclosure by C v(x) itself needs another argument; `induced-
    subspace-dp` is what follows for the whole release where it is known.
    """

def swapping(
    *,
    match: str | Sequence[str] = ...,
    swap_rate: NumberLike,
    rates: Any | Sequence[Any] = ...,
    form: str = ...,
    unit: str = ...,
    largest_stratum: int | None = ...,
) -> Budget:
    """Package dpspec-census. eps_D of the swapping theorem as printed, from the stratum sizes of the universe D.

    The size b is read from the datasets of D: for ``s23-full`` the largest stratum that holds at least two different
    records (Bailie, Gong and Meng 2023, swapping theorem, appendix), for the other two forms the largest stratum. Both are
    constant inside a universe of c_Swap; in a universe of another multiverse the largest over its datasets is taken.

    Args:
        match: the attributes that form the strata [list of texts].
        swap_rate: p, the probability with which each record is selected [rational in [0, 1]].
        rates: the strata that have a rate of their own; their budgets count with it [list of tables of stratumrate
            parameters].
        form: which print of the theorem, see `nominal_budget` [one of s23-full, s23-short, s24; default s23-full].
        unit: the unit whose records are swapped [text; default household].
        largest_stratum: b as a source prints it; the budget is then one number for all universes [integer in [0, inf)].
    """

def symmetric_difference(
    *,
    unit: str = ...,
) -> InputDivergence:
    """Package dpspec-divergences. Symmetric difference of multisets, *not* halved (Bailie, Gong and Meng 2023).

    d(x, x') = |x (-) x'|: the least number of records to add or remove. A metric on the multisets of records of the unit
    (see `Hamming` for datasets at distance 0).

    Args:
        unit: what one record is [text; default person].
    """

def synth(name: Any = ..., *, rows: Any = ..., out: Any = ..., seed: Any = ..., progress: Any = ...) -> CommandAnswer:
    """Package dpspec-release. Make a public test table of any size from published margins; without a name, list the tables
    that there are.

    Args:
        name: the table.
        rows: how many records; without it as many as the table's own size.
        out: the file: .csv, .parquet or .arrow.
        seed: of the random part; without it the table is the same each time.
        progress: called with (done, in all).
    """

def targeted_swapping(
    *,
    levels: str | Sequence[str],
    risk: str | Sequence[str],
    k: int,
    similar: Sequence[str | Sequence[str]] = ...,
    unit: str = ...,
) -> Mechanism:
    """Package dpspec-census. Swapping of the records that few others in their area agree with.

    Args:
        levels: the attributes of the area, coarse to fine; they move [list of texts].
        risk: the risk variables [list of texts].
        k: a record is risky where fewer than k records, itself among them, have its risk variables [integer in [1, inf)].
        similar: profiles of variables in which donors agree, the closest first; without any, all are donors [list of lists
            of texts; default ((),)].
        unit: the unit that one record is [text; default household].
    """

def tester(
    *,
    levels: Sequence[NumberLike] = ...,
    distance: NumberLike = ...,
    datasets: Sequence[str | int | Sequence[Any]] = ...,
) -> AttackerModel:
    """Package dpspec-attackers. A tester of the hypothesis that the data are x against the alternative that they are x', a
    neighbour of x.

    The level is the probability of accusing x' when the data are x, the power that of accusing it rightly. Power equal to
    the level is a test that ignores the release. The advantage of the best test, sup of power - level, is the total
    variation.

    Args:
        levels: the levels at which the power is shown, in (0, 1) [list of rationals in (0, 1); default ('1/100', '1/20',
            '1/10', '1/4', '1/2')].
        distance: how far apart x and x' may be, in the unit of the input divergence [exact number in (0, inf); default 1].
        datasets: those that are distinguished, for the mechanism's own law; without it all, or the smallest of a large
            space [list of text, an integer, or a list of them].
    """

def texts(
    *,
    alphabet: str,
    least: int = ...,
    most: int | None = ...,
    unit: str = ...,
) -> DatasetSpace:
    """Texts over an alphabet, handed over as such.

    Args:
        alphabet: the letters, each once, the simplest first [text].
        least: the range of the length; without `most` it is unbounded [integer in [0, inf); default 0].
        most: the range of the length; without `most` it is unbounded [integer in [0, inf)].
        unit: what one letter is [text; default letter].
    """

def threshold_release(
    *,
    query: Invariant | str | Mapping[str, Any],
    ratio: NumberLike,
    threshold: int,
) -> Mechanism:
    """Package dpspec-noise. Noisy counts of the cells that occur, shown if they are at or above a threshold: for keys that are
    not known beforehand.

    t_c = n_c + W_c for n_c > 0, with two-sided geometric W, shown if t_c >= threshold; a cell with n_c = 0 is never shown.
    That one record shows a new key has probability P(1 + W >= threshold), so no claim without a delta holds (Korolova,
    Kenthapadi, Mishra and Ntoulas 2009).

    Args:
        query: the table of keys [object of the kind invariants].
        ratio: r of the noise, the ratio of the probabilities of consecutive values, P(w) = (1-r)/(1+r) r^|w| [rational in
            (0, 1)].
        threshold: the least noisy count that is shown [integer].
    """

def time_series(
    *,
    length: int,
    low: NumberLike,
    high: NumberLike,
    step: NumberLike | None = ...,
    whole: bool = ...,
    least: int = ...,
    most: int | None = ...,
    ordered: bool = ...,
    unit: str = ...,
    event: str = ...,
) -> DatasetSpace:
    """Lists of time series, one for each person: x_i = (x_i1, ..., x_iT) with every value in [low, high].

    A unit is the whole series of one person, or one value of it (`event`), as in event-level privacy (Dwork, Naor, Pitassi
    and Rothblum 2010).

    Args:
        length: T, how many times there are [integer in [1, inf)].
        low: the bounds of a value, in its own unit [rational].
        high: the bounds of a value, in its own unit [rational].
        step: the width of a grid from `low` on, on which the values lie; without it they are doubles [rational in (0,
            inf)].
        whole: whether values are integers; they are then handed over as such, and the step is 1 unless it is given [true or
            false; default False].
        least: how many series there are; without `most` any number [integer in [0, inf); default 0].
        most: how many series there are; without `most` any number [integer in [0, inf)].
        ordered: whether positions in the list count; otherwise a dataset is a multiset of series [true or false; default
            True].
        unit: what one series is of [text; default person].
        event: what one value of a series is [text; default event].
    """

def top_coding(
    *,
    unit: str = ...,
    column: str,
    top: str,
) -> Mechanism:
    """Package dpspec-census. All categories of an attribute from one on become one: "90 or more".

    Args:
        unit: the unit that one record is [text; default person].
        column: the attribute; its categories are in their order [text].
        top: the first category that is put together with all after it [text].
    """

def topdown(
    *,
    measurements: Any | Sequence[Any],
    unit: str = ...,
    invariants: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]] = ...,
) -> Mechanism:
    """Package dpspec-census. TopDown: the noise step, then a table that fits the noisy answers and keeps the invariants
    exactly.

    An outcome is the pair (z, t): the fitted table as a dataset of the space, and the noisy measurements.

    Args:
        measurements: the queries, each with its variance [list of tables of measurement parameters].
        unit: the unit that the claim protects [text; default person].
        invariants: c, read from the confidential data; a structural zero is a count that is always 0 [list of objects of
            the kind invariants].
    """

def topdown_by_levels(
    *,
    levels: str | Sequence[str],
    allocation: str | Sequence[str] = ...,
    tables: Any | Sequence[Any] = ...,
    invariants: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]] = ...,
    edits: Any | Sequence[Any] = ...,
    unit: str = ...,
    passes: Sequence[str | Sequence[str]] = ...,
    gap: NumberLike = ...,
) -> Mechanism:
    """Package dpspec-census. TopDown over a geographic hierarchy (Bailie, Gong and Meng 2023): noisy marginals of every node,
    then a fit from the largest level down.

    An outcome is (z, t): for every table the fitted counts of the smallest nodes, and all noisy answers.

    Args:
        levels: the attributes of geography, from large to small, each within the one before [list of texts].
        allocation: allocations of 2020 by name; and [list of one of 2020-pl-persons, 2020-pl-housing-units].
        tables: others, at most one for each unit [list of tables of tabulation parameters].
        invariants: c, marginals that are read from the confidential data and kept exactly [list of objects of the kind
            invariants].
        edits: what one fitted table demands of another [list of tables of editconstraint parameters].
        unit: the unit that the claim protects, whose microdata are the main output [text; default person].
        passes: the queries of each pass of the fit, by their words, such as "total" and "age x sex". A pass fits its own
            queries, and keeps what those before it fitted to within whole numbers. Queries that are in none come last;
            without any, all queries are fitted at once [list of lists of texts].
        gap: how far the loss of a fit may be from the optimum, relative to the optimum, where the fast method fits it
            [rational in (0, 1]; default 1/1000].
    """

def topdown_noise(
    *,
    measurements: Any | Sequence[Any],
    unit: str = ...,
) -> Mechanism:
    """Package dpspec-census. The noise step alone: t = q(x) + W (Bailie, Gong and Meng 2023).

    Args:
        measurements: the queries, each with its variance [list of tables of measurement parameters].
        unit: the unit that the claim protects [text; default person].
    """

def total_variation() -> OutputDivergence:
    """Package dpspec-divergences. Total variation distance.

    d(P, Q) = sup over events S of |P(S) - Q(S)|. A metric of size at most 1, so that even disjoint laws are at a finite
    distance and releasing the data themselves has a finite constant. Its budget is the `distance`.
    """

def trade_off(
    *,
    curve: Sequence[Sequence[NumberLike]] = ...,
    epsilon: NumberLike | None = ...,
    delta: NumberLike = ...,
) -> OutputDivergence:
    """Package dpspec-divergences. f-differential privacy with a curve for a budget, counted in steps of the curve (Dong, Roth
    and Su 2022).

    A curve f is no number. But f-privacy on neighbours gives a group of k the curve f_k = 1 - (1 - f) composed k times
    (their theorem on group privacy), and the curves f_0 = 1 - a, f_1 = f, f_2, ... fall. So the curve becomes the unit of
    measurement,

        d(P, Q) = the least k in {0, 1, 2, ..., inf} with T(P, Q) >= f_k,

    and a budget of 1 step says: f-private, with what that means for groups. f must be its own inverse; then d is a metric,
    since T(P, Q) >= f_j and T(Q, R) >= f_k give T(P, R) >= f_k(1 - f_j), which is f_(j+k). Its budget is `steps`. After
    `MOST_STEPS` steps only that is known as a lower bound: the numbers get long, and no budget is meant that far away.

    Args:
        curve: the knots (level, error) of f, from level 0 to (1, 0) [list of lists of rationals in [0, 1]].
        epsilon: instead of a curve, that of pure or approximate privacy, e^epsilon rational, with [exact number in [0,
            inf)].
        delta: the slack in probability [rational in [0, 1); default 0].
    """

def tradeoff(*specifications: Any, table: Any, statistic: Any, metric: Any = ..., risk: Any = ..., vary: Any = ..., at_risk: Any = ..., exchange: Any = ..., runs: Any = ..., seed: Any = ..., out: Any = ..., cells: Any = ..., progress: Any = ...) -> CommandAnswer:
    """Package dpspec-disclosure. Which design has which error at which risk, on one table: a curve for each design over one of
    its parameters.

    The risk is computed in the worst universe and for this table, which are two curves. The error is exact where the law of
    the
    published numbers is known; otherwise it is the mean of independent seeded runs of the mechanism's release, with a
    confidence
    interval of about 95 %. An unknown quantity is reported as unknown, with a reason.

    Args:
        specifications: files, or what was read of them, each with a mechanism; their spaces have the attributes of the
            table.
        table: the table: a file, or a registered table.
        statistic: ``marginal:ATTR,...``, the table of counts whose error is computed.
        metric: ``mape`` (percent), ``mae``, ``rmse`` or ``max`` (records).
        risk: ``power:LEVEL``, ``odds``, ``belief`` or ``belief:PRIOR``, each with ``:exchange`` or without; or
            ``exposure``.
        vary: what varies: ``mechanism.NAME=VALUES``, ``variance=VALUES`` or ``budget=VALUES``, with VALUES as ``1/100,1/2``
            or
            ``FIRST..LAST`` or ``FIRST..LAST:POINTS``. A file follows the first one that speaks about a number of it.
        at_risk: a risk; the parameter of each design that has it is solved for, between its first and its last value.
        exchange: the attributes that two records exchange; without them, those of the first swap among the files.
        runs: how many releases are drawn for each point whose error is simulated.
        seed: from which their seeds are derived.
        out: a file that the figure is written into; ends in .svg, .png or .pdf.
        cells: a CSV file that the error of each cell is written into, for each design at the risk in the worst universe
            that was
            asked for, where it has one, else at each of its points. Made for its owner alone: errors tell about counts.
        progress: called with (done, in all).

    Returns:
        `designs`, each with its points, and with its error at the target risk.

    Raises:
        ParameterError: a metric, risk, variation or number of runs is none; a risk that no design reaches.
        UnknownNameError: an attribute is none of the table.
        TableError: the table does not fit a file.

    >>> import tempfile
    >>> import dpspec as dp
    >>> from dpspec.plugin.applications import as_document
    >>> people = dp.records(town=["a", "b"], job=["yes", "no"])
    >>> cells = dp.marginal(attributes=["town", "job"])
    >>> noise = dp.geometric(queries=[cells], sensitivity=2, epsilon=1, neighbours="replace-one")
    >>> promise = dp.spec(space=people, distance="hamming", standard="pure", epsilon=1)
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("town,job\\na,yes\\nb,no\\n"), file.flush()
    ...     design = as_document(promise, mechanism=noise)
    ...     found = dp.tradeoff(design, table=file.name, statistic="marginal:town,job", metric="mae", exchange=["town"])
    >>> found["designs"][0]["points"][0]["error"]["kind"]
    'exact'
    """

def trivial() -> Multiverse:
    """One universe: all of X (Bailie et al. 2024).
    """

def two_dimensional(
    *,
    posterior: NumberLike,
    ratio: NumberLike,
) -> Tolerance:
    """Package dpspec-attackers. r* = max(posterior/(p q), ratio) for all priors: epsilon = 1/2 ln((ratio - posterior)/(1 -
    posterior)).

    Args:
        posterior: the tolerated posterior of it, whatever the ratio is then [rational in [0, 1)].
        ratio: the tolerated posterior by prior of "included, with a value in S", above 1 [rational in (1, inf)].
    """

def unary_encoding(
    *,
    attribute: str | None = ...,
    form: str | None = ...,
    epsilon: NumberLike | None = ...,
    keep_probability: NumberLike | None = ...,
    false_probability: NumberLike | None = ...,
    hashes: int = ...,
) -> Mechanism:
    """Package dpspec-noise. Unary encoding: one bit for each category; that of the record's own is 1 with probability p, every
    other with q.

    The bits are independent. Two categories differ in two bits, so epsilon = |ln(p (1 - q) / ((1 - p) q))| (Wang, Blocki,
    Li and Jha 2017); one bit alone would give about half of it. Forms with an epsilon of their own:
      * ``symmetric``: p = e^(epsilon/2) / (e^(epsilon/2) + 1), q = 1 - p, the basic form of RAPPOR;
      * ``optimised``: p = 1/2, q = 1 / (e^epsilon + 1). The permanent response of basic RAPPOR, from which everything is
          computed that a person ever sends, has p = 1 - f/2 and q = f/2, and so costs 2 ln((1 - f/2) / (f/2)) for good.
          What is sent at one time is flipped again: 1 with probability s for a 1 and r for a 0 gives p = f/2 (r + s) + (1 -
          f) s and q = f/2 (r + s) + (1 - f) r; it says nothing of many times (Erlingsson, Pihur and Korolova 2014, Theorems
          1 and 2). With h hash functions each category has h bits of its own, and two categories differ in 2 h bits: h
          times that epsilon. A Bloom filter, in which categories may share bits, costs no more.

    Args:
        attribute: the attribute that is reported; the only one where it is not named [text].
        form: with [one of symmetric, optimised].
        epsilon: the pure budget of one report, r + ln(t), r and t rational, t > 0, for the symmetric form a t that is a
            square; or [exact number in [0, inf)].
        keep_probability: p, the probability that a bit that is set is reported as set, with [rational in [0, 1]].
        false_probability: q, the probability that a bit that is not set is reported as set [rational in [0, 1]].
        hashes: h, how many bits each category has [integer in [1, 64]; default 1].
    """

def uniform(
    *,
    parameter: str,
    value: NumberLike,
) -> Budget:
    """One number for every universe.

    Args:
        parameter: which number it is, such as epsilon or rho [text].
        value: the number, a privacy loss for each unit of distance; infinity asks for nothing [exact number in [0, inf)].
    """

def uniqueness(
    *,
    priors: Sequence[NumberLike] = ...,
    distance: NumberLike = ...,
    levels: Sequence[int] = ...,
    datasets: Sequence[str | int | Sequence[Any]] = ...,
) -> AttackerModel:
    """Package dpspec-attackers. An attacker who knows that the target is unique at several levels, and reads a count at each
    of them (Kazan 2025).

    The specification is what the release of *one* level keeps; l levels are l such releases with their own noise.

    Args:
        priors: p, the prior probability of the true value, in (0, 1) [list of rationals in (0, 1); default ('1/2', '1/5',
            '1/10', '1/50')].
        distance: the largest distance of the two candidate datasets, in the unit of the input divergence [exact number in
            (0, inf); default 1].
        levels: numbers of levels, at least 1 each [list of integers in [1, inf); default (1, 2, 3, 4, 5, 6)].
        datasets: the candidate datasets, for the mechanism's own law; by default all, or the smallest of a large space
            [list of text, an integer, or a list of them].
    """

def user_level_dp() -> Flavour:
    """Package dpspec-flavours. User-level privacy: d counts the users whose streams differ, so that it is hidden who ever
    came.

    P_x(S) <= e^epsilon P_x'(S) for streams that differ in all that one user did (Dwork, Naor, Pitassi and Rothblum 2010).
    """

def user_window_dp() -> Flavour:
    """Package dpspec-flavours. User-time privacy: d counts the pairs (user, block of times) that differ, such as person-days
    or person-months.

    P_x(S) <= e^epsilon P_x'(S) for streams that differ in what one user did in one of the consecutive blocks of times.
    """

def value_lists(
    *,
    values: Sequence[Any],
    least: int = ...,
    most: int | None = ...,
    ordered: bool = ...,
    unit: str = ...,
    named: str | Sequence[str] = ...,
) -> DatasetSpace:
    """Lists with entries from a finite set of Python values: numbers, None, NaN, texts, tuples.

    Two values are the same when they are written the same, so that NaN is equal to itself and 1 differs from 1.0.

    Args:
        values: what an entry may be, the simplest first [a list of different hashable values].
        least: the range of the length; without `most` it is unbounded [integer in [0, inf); default 0].
        most: the range of the length; without `most` it is unbounded [integer in [0, inf)].
        ordered: whether positions count; otherwise a dataset is a multiset, in the order of `values` [true or false;
            default True].
        unit: what one entry is [text; default person].
        named: the columns of a table of entries: a name for each part, where entries are tuples of one length, or one name
            [list of texts].
    """

def verify_locked(*paths: Any, lock: Any = ..., everything: Any = ..., accept: Any = ..., jobs: Any = ..., progress: Any = ...) -> CommandAnswer:
    """Package dpspec-guard. Verify specifications against a lock file: is anything new, missing, worse or otherwise another
    result than recorded?

    Files whose bytes are unchanged are not verified where no package changed, and count as the lock records them.

    Args:
        paths: files and folders; without any, those that were locked.
        lock: the lock file.
        everything: verify unchanged files, too; a lock that was edited by hand is found by this alone.
        accept: words that count as success, as for `dpspec verify`: recorded, miniature, unchecked, undecided.
        jobs: as in `lock`.
        progress: called with (done, in all).

    Returns:
        an answer with the findings as data, and a `LockCheck` as `value`; `exit_code` is 1 for a finding, else that of
        `dpspec verify`.

    Raises:
        LockError: the lock is missing or is none.
    """

def w_event_dp() -> Flavour:
    """Package dpspec-flavours. w-event privacy: what happens within any w consecutive times is hidden, wherever they begin.

    d counts windows of w times, and so does the budget: it is spent at most once in every window (Kellaris, Papadopoulos,
    Xiao and Papadias 2014).
    """

def weight_distance() -> InputDivergence:
    """Package dpspec-flavours. The sum of the changes in weight: d(x, x') = sum over values v of |x(v) - x'(v)| (Proserpio et
    al. 2014).

    A new record of weight 1 is at distance 1, as under the symmetric difference of ordinary records, and a transformation
    that turns a record into several, with weights that add up to at most its own, does not increase distances.
    """

def weighted_dp() -> Flavour:
    """Package dpspec-flavours. Privacy of weighted datasets: d is the sum of the changes in weight, so that a light record
    needs little noise.

    P_x(S) <= e^(epsilon sum |x(v) - x'(v)|) P_x'(S) (Proserpio, Goldberg and McSherry 2014).
    """

def weighted_records(
    *,
    values: str | Sequence[str],
    weights: Sequence[NumberLike],
    unit: str = ...,
) -> DatasetSpace:
    """Package dpspec-flavours. Values with weights from a grid: a record of weight 1/2 counts half (Proserpio, Goldberg and
    McSherry 2014).

    A dataset is a tuple of records (value, weight) for the values of positive weight; the weight is written as a fraction.
    For linear queries a dataset is its weights in units of 1/`scale`, which are integers.

    Args:
        values: what a record may be [list of texts].
        weights: the positive weights that a value may have; 0 is always possible [list of rationals in (0, inf)].
        unit: what one record is [text; default record].
    """

def weighted_sums(
    *,
    attributes: str | Sequence[str],
    sums: str | Sequence[str],
    weights: Any | Sequence[Any],
    unit: str = ...,
    where: Mapping[str, str | Sequence[str]] = ...,
) -> Invariant:
    """Package dpspec-noise. q_j(x) = sum over the records of w_j(cell of the record): several linear queries at once.

    A record adds its vector w(v), one replaced changes the answers by w(v') - w(v); cells that are not listed add nothing.

    Args:
        attributes: whose combinations are the cells [list of texts].
        sums: the names of the answers [list of texts].
        weights: rows (cell, adds), at most one for each cell [list of tables of cellweights parameters].
        unit: whose records they are [text; default person].
        where: for some attributes, the categories that are counted; other records add nothing [table of lists of texts].
    """

def window_events(
    *,
    width: int,
) -> InputDivergence:
    """Package dpspec-flavours. The least number of windows of w consecutive times that turn one stream into the other
    (Kellaris et al. 2014).

    With n_t the number of users whose events at time t differ, d(x, x') is the least number of windows of w consecutive
    times that cover every time t at least n_t times: one w-event neighbour changes what one user did at each time of one
    window, and it may be another user at another time. For w = 1 it counts the pairs (user, time) that differ; for w >= T
    it is max n_t, which is 1 for the whole stream of one user.

    Args:
        width: w, the length of a window in times [integer in [1, inf)].
    """

def with_and_without(
    *,
    pairs: Any | Sequence[Any],
) -> Multiverse:
    """Package dpspec-flavours. The universes of `OneRecord` for listed pairs only: {x, x with record z}, with the label (z,
    x).

    Args:
        pairs: the pairs (x, z) [list of tables of instance parameters].
    """

def within_distance(
    *,
    of: InputDivergence | str | Mapping[str, Any],
    most: int,
) -> InputDivergence:
    """0 for equal datasets, 1 for different ones with d(x, x') <= most, infinity for all others.

    Inside the universes of many invariants no two datasets differ in one record alone: two households that exchange their
    places are at distance 2, and neighbours at distance 1 would promise nothing there. No metric.

    Args:
        of: the divergence d that is cut off [object of the kind input_divergences].
        most: the largest distance that is compared, in units of d [integer in [1, inf)].
    """

def write_report(*specifications: Any, out: Any, title: Any = ..., universe_of: Any = ..., jobs: Any = ..., progress: Any = ...) -> CommandAnswer:
    """Package dpspec-report. Write one page on specifications, to share: promises, verdicts, witnesses, risks, comparisons,
    sources. `value` has them.

    Args:
        specifications: files, or directories, which mean their specification files.
        out: the page, as HTML or Markdown by its ending.
        title: what it is called.
        universe_of: a table (a file, a registered name or a data frame) or a release's report: where budgets differ by
            universe,
            the numbers are those of its universe.
        jobs: so many processes; None for one for each processor where there are many files.
        progress: called with (files done, files in all).

    Raises:
        PictureError: another ending.
        TableError: the table does not fit the space of a file whose budgets differ by universe.
    """

def zero_concentrated_dp() -> Flavour:
    """Package dpspec-flavours. Zero-concentrated differential privacy: D_alpha(P_x || P_x') <= alpha rho d(x, x')^2 for all
    alpha > 1 (Bun and Steinke 2016, Definition 1.1).

    The definition requires d = 1; the rest follows, since the root of the largest D_alpha/alpha is a metric (their
    Proposition 1.9).
    """

class _Spaces:
    """The constructors of spaces."""

    @staticmethod
    def bit_vectors(
        *,
        length: int,
        unit: str = ...,
    ) -> DatasetSpace: ...
    @staticmethod
    def bounded_integers(
        *,
        low: int,
        high: int,
        least: int = ...,
        most: int | None = ...,
        ordered: bool = ...,
        unit: str = ...,
    ) -> DatasetSpace: ...
    @staticmethod
    def bounded_reals(
        *,
        low: NumberLike,
        high: NumberLike,
        step: NumberLike | None = ...,
        least: int = ...,
        most: int | None = ...,
        ordered: bool = ...,
        unit: str = ...,
    ) -> DatasetSpace: ...
    @staticmethod
    def clipped_vectors(
        *,
        dimension: int,
        norm: str = ...,
        radius: NumberLike = ...,
        step: NumberLike | None = ...,
        least: int = ...,
        most: int | None = ...,
        ordered: bool = ...,
        unit: str = ...,
    ) -> DatasetSpace: ...
    @staticmethod
    def contingency_tables(
        *,
        attributes: Mapping[str, int | Sequence[str | int]] | Attribute | Mapping[str, Any] | Sequence[Attribute | Mapping[str, Any]] = ...,
        least: int = ...,
        most: int | None = ...,
        unit: str = ...,
        **named: int | Sequence[str | int],
    ) -> DatasetSpace: ...
    @staticmethod
    def data_laws(
        *,
        base: DatasetSpace | str | Mapping[str, Any],
        data_laws: Any | Sequence[Any],
    ) -> DatasetSpace: ...
    @staticmethod
    def element_records(
        *,
        users: str | Sequence[str],
        elements: Mapping[str, int | Sequence[str | int]] | Attribute | Mapping[str, Any] | Sequence[Attribute | Mapping[str, Any]],
        clusters: Mapping[str, str] = ...,
    ) -> DatasetSpace: ...
    @staticmethod
    def event_streams(
        *,
        users: str | Sequence[str],
        times: int,
        values: str | Sequence[str],
        per_time: int = ...,
        window: int | None = ...,
    ) -> DatasetSpace: ...
    @staticmethod
    def graphs(
        *,
        nodes: str | Sequence[str],
        directed: bool = ...,
        absent: bool = ...,
        most_degree: int | None = ...,
    ) -> DatasetSpace: ...
    @staticmethod
    def households(
        *,
        household: Mapping[str, int | Sequence[str | int]] | Attribute | Mapping[str, Any] | Sequence[Attribute | Mapping[str, Any]],
        person: Mapping[str, int | Sequence[str | int]] | Attribute | Mapping[str, Any] | Sequence[Attribute | Mapping[str, Any]],
        least: int = ...,
        most: int | None = ...,
        members: int | None = ...,
    ) -> DatasetSpace: ...
    @staticmethod
    def integer_counts(
        *,
        length: int = ...,
        low: int = ...,
        high: int | None = ...,
    ) -> DatasetSpace: ...
    @staticmethod
    def metric_points(
        *,
        points: Mapping[str, Sequence[NumberLike]] = ...,
        grid: Sequence[int] = ...,
        spacing: NumberLike = ...,
        count: int = ...,
        unit: str = ...,
    ) -> DatasetSpace: ...
    @staticmethod
    def ordered_records(
        *,
        attributes: Mapping[str, int | Sequence[str | int]] | Attribute | Mapping[str, Any] | Sequence[Attribute | Mapping[str, Any]] = ...,
        least: int = ...,
        most: int | None = ...,
        unit: str = ...,
        **named: int | Sequence[str | int],
    ) -> DatasetSpace: ...
    @staticmethod
    def records(
        *,
        attributes: Mapping[str, int | Sequence[str | int]] | Attribute | Mapping[str, Any] | Sequence[Attribute | Mapping[str, Any]] = ...,
        least: int = ...,
        most: int | None = ...,
        unit: str = ...,
        **named: int | Sequence[str | int],
    ) -> DatasetSpace: ...
    @staticmethod
    def secrets(
        *,
        base: DatasetSpace | str | Mapping[str, Any],
        secrets: Any | Sequence[Any],
        priors: Any | Sequence[Any],
        backgrounds: Any | Sequence[Any] = ...,
    ) -> DatasetSpace: ...
    @staticmethod
    def texts(
        *,
        alphabet: str,
        least: int = ...,
        most: int | None = ...,
        unit: str = ...,
    ) -> DatasetSpace: ...
    @staticmethod
    def time_series(
        *,
        length: int,
        low: NumberLike,
        high: NumberLike,
        step: NumberLike | None = ...,
        whole: bool = ...,
        least: int = ...,
        most: int | None = ...,
        ordered: bool = ...,
        unit: str = ...,
        event: str = ...,
    ) -> DatasetSpace: ...
    @staticmethod
    def value_lists(
        *,
        values: Sequence[Any],
        least: int = ...,
        most: int | None = ...,
        ordered: bool = ...,
        unit: str = ...,
        named: str | Sequence[str] = ...,
    ) -> DatasetSpace: ...
    @staticmethod
    def weighted_records(
        *,
        values: str | Sequence[str],
        weights: Sequence[NumberLike],
        unit: str = ...,
    ) -> DatasetSpace: ...

spaces: _Spaces

class _Multiverses:
    """The constructors of multiverses."""

    @staticmethod
    def around(
        *,
        centres: Sequence[str | int | Sequence[Any]] | None = ...,
        distance: InputDivergence | str | Mapping[str, Any],
        radius: NumberLike,
    ) -> Multiverse: ...
    @staticmethod
    def explicit(
        *,
        universes_by_label: Mapping[str, Sequence[str | int | Sequence[Any]]],
    ) -> Multiverse: ...
    @staticmethod
    def invariants(
        *,
        invariants: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]],
    ) -> Multiverse: ...
    @staticmethod
    def one_position(
        *,
        unit: str = ...,
    ) -> Multiverse: ...
    @staticmethod
    def one_record() -> Multiverse: ...
    @staticmethod
    def resamples(
        *,
        centres: Sequence[str | int | Sequence[Any]] | None = ...,
        unit: str = ...,
    ) -> Multiverse: ...
    @staticmethod
    def star(
        *,
        centres: Sequence[str | int | Sequence[Any]] | None = ...,
        relation: Relation | str | Mapping[str, Any],
    ) -> Multiverse: ...
    @staticmethod
    def strata(
        *,
        attribute: str,
        unit: str = ...,
    ) -> Multiverse: ...
    @staticmethod
    def trivial() -> Multiverse: ...
    @staticmethod
    def with_and_without(
        *,
        pairs: Any | Sequence[Any],
    ) -> Multiverse: ...

multiverses: _Multiverses

class _Relations:
    """The constructors of relations."""

    @staticmethod
    def add_remove(
        *,
        unit: str = ...,
    ) -> Relation: ...
    @staticmethod
    def differ_in_one_position(
        *,
        unit: str = ...,
    ) -> Relation: ...
    @staticmethod
    def discriminative_pairs(
        *,
        pairs: Sequence[str | Sequence[str]],
    ) -> Relation: ...
    @staticmethod
    def listed_pairs(
        *,
        pairs: Sequence[Sequence[str | int | Sequence[Any]]],
    ) -> Relation: ...
    @staticmethod
    def policy_neighbours(
        *,
        edges: Sequence[Sequence[str | int | Sequence[Any]]],
        constraints: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]] = ...,
        unit: str = ...,
    ) -> Relation: ...
    @staticmethod
    def replace_one(
        *,
        unit: str = ...,
    ) -> Relation: ...

relations: _Relations

class _InputDivergences:
    """The constructors of input divergences."""

    @staticmethod
    def data_variation() -> InputDivergence: ...
    @staticmethod
    def data_wasserstein(
        *,
        distance_of_data: InputDivergence | str | Mapping[str, Any],
    ) -> InputDivergence: ...
    @staticmethod
    def edit_distance(
        *,
        unit: str = ...,
        replacing: int = ...,
    ) -> InputDivergence: ...
    @staticmethod
    def hamming(
        *,
        unit: str = ...,
    ) -> InputDivergence: ...
    @staticmethod
    def hamming_ordered(
        *,
        unit: str = ...,
    ) -> InputDivergence: ...
    @staticmethod
    def l1() -> InputDivergence: ...
    @staticmethod
    def l2() -> InputDivergence: ...
    @staticmethod
    def l_infinity() -> InputDivergence: ...
    @staticmethod
    def metric(
        *,
        norm: str = ...,
        length: NumberLike = ...,
        over: str = ...,
    ) -> InputDivergence: ...
    @staticmethod
    def neighbour(
        *,
        relation: Relation | str | Mapping[str, Any],
    ) -> InputDivergence: ...
    @staticmethod
    def node_distance(
        *,
        removal_only: bool = ...,
    ) -> InputDivergence: ...
    @staticmethod
    def one_sided(
        *,
        attribute: str,
        sensitive: str | Sequence[str],
        unit: str = ...,
    ) -> InputDivergence: ...
    @staticmethod
    def path(
        *,
        relation: Relation | str | Mapping[str, Any],
    ) -> InputDivergence: ...
    @staticmethod
    def personal_weights(
        *,
        weights: Sequence[NumberLike],
        unit: str = ...,
    ) -> InputDivergence: ...
    @staticmethod
    def policy(
        *,
        edges: Sequence[Sequence[str | int | Sequence[Any]]],
        unit: str = ...,
    ) -> InputDivergence: ...
    @staticmethod
    def record_weights(
        *,
        attribute: str,
        weights: Mapping[str, NumberLike],
        otherwise: NumberLike | None = ...,
        unit: str = ...,
    ) -> InputDivergence: ...
    @staticmethod
    def symmetric_difference(
        *,
        unit: str = ...,
    ) -> InputDivergence: ...
    @staticmethod
    def weight_distance() -> InputDivergence: ...
    @staticmethod
    def window_events(
        *,
        width: int,
    ) -> InputDivergence: ...
    @staticmethod
    def within_distance(
        *,
        of: InputDivergence | str | Mapping[str, Any],
        most: int,
    ) -> InputDivergence: ...

input_divergences: _InputDivergences

class _OutputDivergences:
    """The constructors of output divergences."""

    @staticmethod
    def d_nor() -> OutputDivergence: ...
    @staticmethod
    def f_divergence(
        *,
        generator: str,
        direction: str,
        knots: Sequence[Sequence[NumberLike]] = ...,
    ) -> OutputDivergence: ...
    @staticmethod
    def gaussian_trade_off() -> OutputDivergence: ...
    @staticmethod
    def hockey_stick(
        *,
        epsilon: NumberLike,
    ) -> OutputDivergence: ...
    @staticmethod
    def mult() -> OutputDivergence: ...
    @staticmethod
    def mult_delta(
        *,
        delta: NumberLike,
    ) -> OutputDivergence: ...
    @staticmethod
    def mult_one_way() -> OutputDivergence: ...
    @staticmethod
    def pbdp(
        *,
        delta: NumberLike,
    ) -> OutputDivergence: ...
    @staticmethod
    def renyi(
        *,
        order: NumberLike,
    ) -> OutputDivergence: ...
    @staticmethod
    def total_variation() -> OutputDivergence: ...
    @staticmethod
    def trade_off(
        *,
        curve: Sequence[Sequence[NumberLike]] = ...,
        epsilon: NumberLike | None = ...,
        delta: NumberLike = ...,
    ) -> OutputDivergence: ...

output_divergences: _OutputDivergences

class _Budgets:
    """The constructors of budgets."""

    @staticmethod
    def by_part(
        *,
        parameter: str,
        values: Any | Sequence[Any],
        otherwise: NumberLike | None = ...,
        place: int = ...,
    ) -> Budget: ...
    @staticmethod
    def by_value(
        *,
        parameter: str,
        attribute: str,
        base: NumberLike = ...,
        rate: NumberLike,
        unit: str = ...,
        place: int = ...,
    ) -> Budget: ...
    @staticmethod
    def swapping(
        *,
        match: str | Sequence[str] = ...,
        swap_rate: NumberLike,
        rates: Any | Sequence[Any] = ...,
        form: str = ...,
        unit: str = ...,
        largest_stratum: int | None = ...,
    ) -> Budget: ...
    @staticmethod
    def uniform(
        *,
        parameter: str,
        value: NumberLike,
    ) -> Budget: ...

budgets: _Budgets

class _Mechanisms:
    """The constructors of mechanisms."""

    @staticmethod
    def above_threshold(
        *,
        query: Invariant | str | Mapping[str, Any],
        threshold: NumberLike,
        threshold_scale: NumberLike,
        query_scale: NumberLike,
    ) -> Mechanism: ...
    @staticmethod
    def averaged(
        *,
        mechanism: Mechanism | str | Mapping[str, Any],
        seen: Sequence[int] = ...,
    ) -> Mechanism: ...
    @staticmethod
    def batched(
        *,
        mechanism: Mechanism | str | Mapping[str, Any],
        batches: int,
        assignment: str,
    ) -> Mechanism: ...
    @staticmethod
    def bottom_coding(
        *,
        unit: str = ...,
        column: str,
        bottom: str,
    ) -> Mechanism: ...
    @staticmethod
    def bounded(
        *,
        mechanism: Mechanism | str | Mapping[str, Any],
        most: int | None = ...,
        in_cell: int | None = ...,
        by: str | Sequence[str] = ...,
    ) -> Mechanism: ...
    @staticmethod
    def cell_key(
        *,
        unit: str = ...,
        tables: Sequence[str | Sequence[str]],
        rows: Any | Sequence[Any],
        keys: int,
    ) -> Mechanism: ...
    @staticmethod
    def cell_suppression(
        *,
        unit: str = ...,
        tables: Sequence[str | Sequence[str]],
        threshold: int = ...,
        p_percent: NumberLike | None = ...,
        dominance: Any | None = ...,
        value: str | None = ...,
        protection: int = ...,
    ) -> Mechanism: ...
    @staticmethod
    def coarsening(
        *,
        unit: str = ...,
        recodings: Any | Sequence[Any] = ...,
        dropped: str | Sequence[str] = ...,
    ) -> Mechanism: ...
    @staticmethod
    def composed(
        *,
        parts: Mechanism | str | Mapping[str, Any] | Sequence[Mechanism | str | Mapping[str, Any]],
    ) -> Mechanism: ...
    @staticmethod
    def controlled_rounding(
        *,
        unit: str = ...,
        rows: str,
        columns: str,
        base: int,
    ) -> Mechanism: ...
    @staticmethod
    def conventional_rounding(
        *,
        unit: str = ...,
        tables: Sequence[str | Sequence[str]],
        base: int,
        redact_up_to: int | None = ...,
        redact_from: int = ...,
    ) -> Mechanism: ...
    @staticmethod
    def count_mean_sketch(
        *,
        attribute: str | None = ...,
        epsilon: NumberLike,
        width: int,
        hashes: Sequence[Sequence[int]],
    ) -> Mechanism: ...
    @staticmethod
    def derangement_swapping(
        *,
        match: str | Sequence[str] = ...,
        swap: str | Sequence[str],
        swap_rate: NumberLike,
        rates: Any | Sequence[Any] = ...,
        unit: str = ...,
    ) -> Mechanism: ...
    @staticmethod
    def discrete_gaussian(
        *,
        queries: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]],
        neighbours: str = ...,
        unit: str = ...,
        sensitivities: Sequence[NumberLike],
        variance: NumberLike | None = ...,
        scale: NumberLike | None = ...,
    ) -> Mechanism: ...
    @staticmethod
    def exponential(
        *,
        query: Invariant | str | Mapping[str, Any],
        rate: NumberLike,
    ) -> Mechanism: ...
    @staticmethod
    def filtered(
        *,
        mechanism: Mechanism | str | Mapping[str, Any],
        where: Mapping[str, str | Sequence[str]],
        unit: str = ...,
    ) -> Mechanism: ...
    @staticmethod
    def gaussian(
        *,
        queries: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]],
        neighbours: str = ...,
        unit: str = ...,
        sensitivity: NumberLike = ...,
        calibration: str | None = ...,
        epsilon: NumberLike | None = ...,
        delta: NumberLike | None = ...,
        variance: NumberLike | None = ...,
        scale: NumberLike | None = ...,
    ) -> Mechanism: ...
    @staticmethod
    def geometric(
        *,
        queries: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]],
        neighbours: str = ...,
        unit: str = ...,
        sensitivity: NumberLike = ...,
        epsilon: NumberLike | None = ...,
        ratio: NumberLike | None = ...,
        scale: NumberLike | None = ...,
    ) -> Mechanism: ...
    @staticmethod
    def hadamard_response(
        *,
        attribute: str | None = ...,
        epsilon: NumberLike,
    ) -> Mechanism: ...
    @staticmethod
    def k_ary_response(
        *,
        attribute: str | None = ...,
        epsilon: NumberLike | None = ...,
        keep_probability: NumberLike | None = ...,
    ) -> Mechanism: ...
    @staticmethod
    def kept_cell_key(
        *,
        unit: str = ...,
        tables: Sequence[str | Sequence[str]],
        rows: Any | Sequence[Any],
        keys: int,
        key: str,
    ) -> Mechanism: ...
    @staticmethod
    def laplace(
        *,
        queries: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]],
        neighbours: str = ...,
        unit: str = ...,
        sensitivity: NumberLike = ...,
        epsilon: NumberLike | None = ...,
        scale: NumberLike | None = ...,
        variance: NumberLike | None = ...,
    ) -> Mechanism: ...
    @staticmethod
    def laplace_moments(
        *,
        attribute: str,
        low: NumberLike = ...,
        high: NumberLike = ...,
        epsilon_mean: NumberLike,
        epsilon_variance: NumberLike,
    ) -> Mechanism: ...
    @staticmethod
    def laplace_regression(
        *,
        x: str,
        y: str,
        x_low: NumberLike = ...,
        x_high: NumberLike = ...,
        y_low: NumberLike = ...,
        y_high: NumberLike = ...,
        epsilon: NumberLike,
    ) -> Mechanism: ...
    @staticmethod
    def lattice_gaussian(
        *,
        invariants: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]] | None = ...,
        moves: Sequence[Sequence[int]] | None = ...,
        variance: NumberLike,
    ) -> Mechanism: ...
    @staticmethod
    def lecture_randomised_response() -> Mechanism: ...
    @staticmethod
    def listed_laws(
        *,
        laws: Any | Sequence[Any],
        otherwise: Mapping[str, NumberLike] | None = ...,
    ) -> Mechanism: ...
    @staticmethod
    def local_noise(
        *,
        query: Invariant | str | Mapping[str, Any],
        relation: Relation | str | Mapping[str, Any],
        epsilon: NumberLike,
        observed: str | int | Sequence[Any] | None = ...,
    ) -> Mechanism: ...
    @staticmethod
    def nearby_dataset(
        *,
        distance: InputDivergence | str | Mapping[str, Any],
        rate: NumberLike,
    ) -> Mechanism: ...
    @staticmethod
    def noisy_max(
        *,
        query: Invariant | str | Mapping[str, Any],
        noise: str,
        rate: NumberLike,
    ) -> Mechanism: ...
    @staticmethod
    def open_sample(
        *,
        attribute: str,
        sensitive: str | Sequence[str],
        unit: str = ...,
        keep_probability: NumberLike,
    ) -> Mechanism: ...
    @staticmethod
    def pair_swapping(
        *,
        match: str | Sequence[str] = ...,
        swap: str | Sequence[str],
        swap_rate: NumberLike,
        rates: Any | Sequence[Any] = ...,
        unit: str = ...,
    ) -> Mechanism: ...
    @staticmethod
    def parallel(
        *,
        attribute: str,
        parts: Any | Sequence[Any],
        unit: str = ...,
    ) -> Mechanism: ...
    @staticmethod
    def permutation_swapping(
        *,
        match: str | Sequence[str] = ...,
        swap: str | Sequence[str],
        swap_rate: NumberLike,
        rates: Any | Sequence[Any] = ...,
        unit: str = ...,
    ) -> Mechanism: ...
    @staticmethod
    def personalised_response(
        *,
        keep_probabilities: Sequence[NumberLike],
    ) -> Mechanism: ...
    @staticmethod
    def post_processed(
        *,
        mechanism: Mechanism | str | Mapping[str, Any],
        at_least: int | None = ...,
        rounded_to: int | None = ...,
        hidden_below: int | None = ...,
    ) -> Mechanism: ...
    @staticmethod
    def pre_noise(
        *,
        mechanism: Mechanism | str | Mapping[str, Any],
        rate: NumberLike,
    ) -> Mechanism: ...
    @staticmethod
    def projected_gaussian(
        *,
        invariants: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]],
        variance: NumberLike,
        projection_only: bool = ...,
    ) -> Mechanism: ...
    @staticmethod
    def random_rounding(
        *,
        unit: str = ...,
        tables: Sequence[str | Sequence[str]],
        base: int,
    ) -> Mechanism: ...
    @staticmethod
    def randomised_response(
        *,
        keep_probability: NumberLike,
    ) -> Mechanism: ...
    @staticmethod
    def release_invariants(
        *,
        invariants: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]],
    ) -> Mechanism: ...
    @staticmethod
    def repeated(
        *,
        mechanism: Mechanism | str | Mapping[str, Any],
        times: int,
    ) -> Mechanism: ...
    @staticmethod
    def reveal_by_chance(
        *,
        mechanism: Mechanism | str | Mapping[str, Any],
        chance: NumberLike,
    ) -> Mechanism: ...
    @staticmethod
    def risk_swapping(
        *,
        match: str | Sequence[str] = ...,
        swap: str | Sequence[str],
        swap_rate: NumberLike,
        rates: Any | Sequence[Any] = ...,
        unit: str = ...,
        rate: Any | Sequence[Any],
        algorithm: str = ...,
    ) -> Mechanism: ...
    @staticmethod
    def safetab(
        *,
        populations: Any | Sequence[Any],
        levels: Any | Sequence[Any],
        budget: NumberLike,
        unit: str = ...,
    ) -> Mechanism: ...
    @staticmethod
    def safetab_geometric(
        *,
        populations: Any | Sequence[Any],
        levels: Any | Sequence[Any],
        budget: NumberLike,
        unit: str = ...,
    ) -> Mechanism: ...
    @staticmethod
    def shuffled(
        *,
        mechanism: Mechanism | str | Mapping[str, Any],
    ) -> Mechanism: ...
    @staticmethod
    def staircase(
        *,
        queries: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]],
        neighbours: str = ...,
        unit: str = ...,
        width: NumberLike,
        inner: NumberLike,
        epsilon: NumberLike,
        on_line: bool = ...,
    ) -> Mechanism: ...
    @staticmethod
    def subsampled(
        *,
        mechanism: Mechanism | str | Mapping[str, Any],
        rate: NumberLike | None = ...,
        size: int | None = ...,
        samples: DatasetSpace | str | Mapping[str, Any] | None = ...,
        publishes_sample: bool = ...,
    ) -> Mechanism: ...
    @staticmethod
    def targeted_swapping(
        *,
        levels: str | Sequence[str],
        risk: str | Sequence[str],
        k: int,
        similar: Sequence[str | Sequence[str]] = ...,
        unit: str = ...,
    ) -> Mechanism: ...
    @staticmethod
    def threshold_release(
        *,
        query: Invariant | str | Mapping[str, Any],
        ratio: NumberLike,
        threshold: int,
    ) -> Mechanism: ...
    @staticmethod
    def top_coding(
        *,
        unit: str = ...,
        column: str,
        top: str,
    ) -> Mechanism: ...
    @staticmethod
    def topdown(
        *,
        measurements: Any | Sequence[Any],
        unit: str = ...,
        invariants: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]] = ...,
    ) -> Mechanism: ...
    @staticmethod
    def topdown_by_levels(
        *,
        levels: str | Sequence[str],
        allocation: str | Sequence[str] = ...,
        tables: Any | Sequence[Any] = ...,
        invariants: Invariant | str | Mapping[str, Any] | Sequence[Invariant | str | Mapping[str, Any]] = ...,
        edits: Any | Sequence[Any] = ...,
        unit: str = ...,
        passes: Sequence[str | Sequence[str]] = ...,
        gap: NumberLike = ...,
    ) -> Mechanism: ...
    @staticmethod
    def topdown_noise(
        *,
        measurements: Any | Sequence[Any],
        unit: str = ...,
    ) -> Mechanism: ...
    @staticmethod
    def unary_encoding(
        *,
        attribute: str | None = ...,
        form: str | None = ...,
        epsilon: NumberLike | None = ...,
        keep_probability: NumberLike | None = ...,
        false_probability: NumberLike | None = ...,
        hashes: int = ...,
    ) -> Mechanism: ...

mechanisms: _Mechanisms

class _Flavours:
    """The constructors of flavours."""

    @staticmethod
    def amplification_by_sampling() -> Flavour: ...
    @staticmethod
    def approximate_dp() -> Flavour: ...
    @staticmethod
    def bayesian_dp() -> Flavour: ...
    @staticmethod
    def blowfish() -> Flavour: ...
    @staticmethod
    def blowfish_constraints() -> Flavour: ...
    @staticmethod
    def bootstrap_dp() -> Flavour: ...
    @staticmethod
    def close_adversaries() -> Flavour: ...
    @staticmethod
    def conditioned_dp() -> Flavour: ...
    @staticmethod
    def coupled_worlds() -> Flavour: ...
    @staticmethod
    def distributional_privacy() -> Flavour: ...
    @staticmethod
    def edge_dp() -> Flavour: ...
    @staticmethod
    def element_level_dp() -> Flavour: ...
    @staticmethod
    def empirical_dp() -> Flavour: ...
    @staticmethod
    def event_level_dp() -> Flavour: ...
    @staticmethod
    def f_divergence_privacy() -> Flavour: ...
    @staticmethod
    def f_dp() -> Flavour: ...
    @staticmethod
    def free_lunch_privacy() -> Flavour: ...
    @staticmethod
    def gaussian_dp() -> Flavour: ...
    @staticmethod
    def generic_dp() -> Flavour: ...
    @staticmethod
    def geo_indistinguishability() -> Flavour: ...
    @staticmethod
    def hockey_stick_dp() -> Flavour: ...
    @staticmethod
    def individual_dp() -> Flavour: ...
    @staticmethod
    def induced_subspace_dp() -> Flavour: ...
    @staticmethod
    def integer_subspace_dp() -> Flavour: ...
    @staticmethod
    def invariants_dp() -> Flavour: ...
    @staticmethod
    def label_dp() -> Flavour: ...
    @staticmethod
    def linear_approximate_dp() -> Flavour: ...
    @staticmethod
    def linear_f_divergence_privacy() -> Flavour: ...
    @staticmethod
    def linear_hockey_stick_dp() -> Flavour: ...
    @staticmethod
    def linear_renyi_dp() -> Flavour: ...
    @staticmethod
    def local_dp() -> Flavour: ...
    @staticmethod
    def metric_dp() -> Flavour: ...
    @staticmethod
    def network_dp() -> Flavour: ...
    @staticmethod
    def node_dp() -> Flavour: ...
    @staticmethod
    def noiseless_privacy() -> Flavour: ...
    @staticmethod
    def one_sided_dp() -> Flavour: ...
    @staticmethod
    def partial_knowledge() -> Flavour: ...
    @staticmethod
    def per_instance_dp() -> Flavour: ...
    @staticmethod
    def per_record_dp() -> Flavour: ...
    @staticmethod
    def personalised_budgets() -> Flavour: ...
    @staticmethod
    def personalised_dp() -> Flavour: ...
    @staticmethod
    def pufferfish() -> Flavour: ...
    @staticmethod
    def pure_dp() -> Flavour: ...
    @staticmethod
    def renyi_dp() -> Flavour: ...
    @staticmethod
    def restricted_sensitivity() -> Flavour: ...
    @staticmethod
    def shuffle_dp() -> Flavour: ...
    @staticmethod
    def stratified_dp() -> Flavour: ...
    @staticmethod
    def subspace_dp() -> Flavour: ...
    @staticmethod
    def user_level_dp() -> Flavour: ...
    @staticmethod
    def user_window_dp() -> Flavour: ...
    @staticmethod
    def w_event_dp() -> Flavour: ...
    @staticmethod
    def weighted_dp() -> Flavour: ...
    @staticmethod
    def zero_concentrated_dp() -> Flavour: ...

flavours: _Flavours

class _Attackers:
    """The constructors of attackers."""

    @staticmethod
    def arbitrary_prior(
        *,
        prior: str | Mapping[Any, NumberLike] | Sequence[tuple[Any, NumberLike]] = ...,
        position: int = ...,
        counterfactual: str = ...,
        default: str | int | Sequence[Any] | None = ...,
        factors: Sequence[NumberLike] = ...,
        distance: NumberLike | None = ...,
    ) -> AttackerModel: ...
    @staticmethod
    def attribute_restricted(
        *,
        attributes: str | Sequence[str],
        reacting: NumberLike | None = ...,
        levels: Sequence[NumberLike] = ...,
        distance: NumberLike = ...,
    ) -> AttackerModel: ...
    @staticmethod
    def block_knowledge(
        *,
        priors: Sequence[NumberLike] = ...,
        distance: NumberLike = ...,
        datasets: Sequence[str | int | Sequence[Any]] = ...,
    ) -> AttackerModel: ...
    @staticmethod
    def compound_tester(
        *,
        prior: str | Mapping[Any, NumberLike] | Sequence[tuple[Any, NumberLike]] = ...,
        position: int = ...,
        levels: Sequence[NumberLike] = ...,
        distance: NumberLike | None = ...,
    ) -> AttackerModel: ...
    @staticmethod
    def hierarchical(
        *,
        priors: Sequence[NumberLike] = ...,
        distance: NumberLike = ...,
        worlds: Sequence[Sequence[str | int | Sequence[Any]]] = ...,
    ) -> AttackerModel: ...
    @staticmethod
    def independent_record(
        *,
        inclusion: NumberLike = ...,
        value: NumberLike = ...,
    ) -> AttackerModel: ...
    @staticmethod
    def information_chamber(
        *,
        prior: str | Mapping[Any, NumberLike] | Sequence[tuple[Any, NumberLike]],
        position: int = ...,
        chamber: str = ...,
    ) -> AttackerModel: ...
    @staticmethod
    def integer_program(
        *,
        nodes: int = ...,
    ) -> AttackerModel: ...
    @staticmethod
    def journalist(
        *,
        share: NumberLike | None = ...,
        population: int | None = ...,
        distance: NumberLike | None = ...,
    ) -> AttackerModel: ...
    @staticmethod
    def most_likely_record(
        *,
        most: int = ...,
    ) -> AttackerModel: ...
    @staticmethod
    def nearest_donor() -> AttackerModel: ...
    @staticmethod
    def nosy_neighbour(
        *,
        share: NumberLike | None = ...,
        population: int | None = ...,
        distance: NumberLike | None = ...,
    ) -> AttackerModel: ...
    @staticmethod
    def sampling_outsider(
        *,
        share: NumberLike | None = ...,
        population: int | None = ...,
        distance: NumberLike | None = ...,
    ) -> AttackerModel: ...
    @staticmethod
    def strong_membership(
        *,
        priors: Sequence[NumberLike] = ...,
        failure: NumberLike = ...,
    ) -> AttackerModel: ...
    @staticmethod
    def strongest(
        *,
        priors: Sequence[NumberLike] = ...,
        factors: Sequence[NumberLike] = ...,
        distance: NumberLike = ...,
        datasets: Sequence[str | int | Sequence[Any]] = ...,
    ) -> AttackerModel: ...
    @staticmethod
    def tester(
        *,
        levels: Sequence[NumberLike] = ...,
        distance: NumberLike = ...,
        datasets: Sequence[str | int | Sequence[Any]] = ...,
    ) -> AttackerModel: ...
    @staticmethod
    def uniqueness(
        *,
        priors: Sequence[NumberLike] = ...,
        distance: NumberLike = ...,
        levels: Sequence[int] = ...,
        datasets: Sequence[str | int | Sequence[Any]] = ...,
    ) -> AttackerModel: ...

attackers: _Attackers

class _Tolerances:
    """The constructors of tolerances."""

    @staticmethod
    def box(
        *,
        ratio: NumberLike,
        p_low: NumberLike = ...,
        p_high: NumberLike = ...,
        q_low: NumberLike = ...,
        q_high: NumberLike = ...,
    ) -> Tolerance: ...
    @staticmethod
    def constant(
        *,
        ratio: NumberLike,
    ) -> Tolerance: ...
    @staticmethod
    def difference(
        *,
        difference: NumberLike,
    ) -> Tolerance: ...
    @staticmethod
    def fixed_p(
        *,
        posterior: NumberLike,
        ratio: NumberLike,
        p: NumberLike,
    ) -> Tolerance: ...
    @staticmethod
    def fixed_q(
        *,
        posterior: NumberLike,
        ratio: NumberLike,
        q: NumberLike = ...,
    ) -> Tolerance: ...
    @staticmethod
    def function(
        *,
        function: str | Callable[..., NumberLike],
    ) -> Tolerance: ...
    @staticmethod
    def membership_difference(
        *,
        releases: int = ...,
        method: str = ...,
        delta_each: NumberLike = ...,
        delta: NumberLike = ...,
        failure: NumberLike = ...,
        difference: NumberLike,
    ) -> Tolerance: ...
    @staticmethod
    def membership_posterior(
        *,
        releases: int = ...,
        method: str = ...,
        delta_each: NumberLike = ...,
        delta: NumberLike = ...,
        failure: NumberLike = ...,
        posterior: NumberLike,
        prior: NumberLike = ...,
    ) -> Tolerance: ...
    @staticmethod
    def membership_ratio(
        *,
        releases: int = ...,
        method: str = ...,
        delta_each: NumberLike = ...,
        delta: NumberLike = ...,
        failure: NumberLike = ...,
        ratio: NumberLike,
    ) -> Tolerance: ...
    @staticmethod
    def one_missing(
        *,
        size: int,
        posterior: NumberLike,
    ) -> Tolerance: ...
    @staticmethod
    def point(
        *,
        ratio: NumberLike,
        p: NumberLike = ...,
        q: NumberLike = ...,
    ) -> Tolerance: ...
    @staticmethod
    def two_dimensional(
        *,
        posterior: NumberLike,
        ratio: NumberLike,
    ) -> Tolerance: ...

tolerances: _Tolerances
