"""For packages that build on what dpspec computes: files, verdicts, comparisons, ledgers, and words for them.

    from dpspec.plugin.applications import read_text, verify_document

A package of vocabulary (mechanisms, divergences, spaces) needs `dpspec.plugin` alone. A package that adds a command about whole
files takes from here, in addition, what reads and judges a file, what compares and adds up promises, what puts blocks and numbers
into words, and what writes files. Everything else of dpspec may move.
"""

from __future__ import annotations

from dpspec.api import as_document, as_documents, compared, document_at, ended_standing, order_specs
from dpspec.base.errors import (
    CertificateError,
    CertificateVersionError,
    LibraryError,
    MissingKeyError,
    MissingLibraryError,
    NoFormulaError,
    NotCertifiableError,
    OwnFaultError,
    PictureError,
    RecordVersionError,
    RefutedPartError,
    RegistryCheckError,
    ReleaseError,
    SpecTooLargeError,
    UnknownKeyError,
    UnknownNameError,
    UnreadableFileError,
    WrongShapeError,
    YamlError,
    count,
    harmless,
    in_markup,
)
from dpspec.base.files import read_bytes, write_bytes, write_folder, write_whole
from dpspec.base.jobs import in_order, jobs_for, process_pool, processors
from dpspec.base.log import log
from dpspec.base.params import collect, did_you_mean, each, parameters, raise_all
from dpspec.base.types import JsonData, Progress
from dpspec.base.words import Word, stand_ins_in_words, worst_code, worst_word
from dpspec.blocks.units import longer_units, read_unit
from dpspec.comparison.compare import Answer, Direction
from dpspec.comparison.composition import Composition, Part, add_up, compose as compose_parts, documents_of
from dpspec.comparison.order import Order, order
from dpspec.constructors import standards
from dpspec.extension.hooks import Registry
from dpspec.extension.loader import origins
from dpspec.extension.packages import contributed, renderer
from dpspec.extension.sources import Sources, requirements
from dpspec.grammar.plugin_calls import guarded
from dpspec.grammar.spec import allowed_to_all, blocks_of
from dpspec.reason.conversions import budget_at
from dpspec.reason.rules import promise_for
from dpspec.report.accuracy import margins
from dpspec.report.audience import audience_data, fact_in_words, is_plain, named_unit, public_standing, step_in_words, table_notes
from dpspec.report.comparison import blocks_figure, claim_status, headline
from dpspec.report.explain import folded, promise
from dpspec.report.figures import (
    BlockRow,
    CurveLine,
    CurvePanel,
    CurvePoints,
    DiagramBox,
    Figure,
    FigureFile,
    chart,
    figure_file,
    power_lines,
    steps,
)
from dpspec.report.json import (
    bracket as bracket_data,
    document as json_text,
    file_report as file_report_data,
    written as json_written,
)
from dpspec.report.ledgers import ledger_data
from dpspec.report.order import order_data, order_figure, order_mark
from dpspec.report.page import (
    Bullets,
    CaptionedFigure,
    Grid,
    Heading,
    Mood,
    Page,
    PageParts,
    Piece,
    Sentence,
    Verbatim,
    to_html,
)
from dpspec.report.pages import printed
from dpspec.report.risk import KEEPING, file_numbers, numbers_cells, numbers_data, numbers_note, numbers_title
from dpspec.report.subject import CurveSubject, curve_subject, noise_laws
from dpspec.report.terminal import (
    BAD,
    FAINT,
    GOOD,
    at_most_in_words,
    blocks_in_words,
    bracket_in_words,
    budget_in_short,
    budget_in_words,
    drawn,
    end_in_words,
    level_in_words,
    multiverse_in_words,
    number_in_words,
    pair_in_words,
    part_in_words,
    probability_in_words,
    space_in_words,
    standing_data,
    thing_by_name,
    thing_in_words,
)
from dpspec.report.text import counted, summary as outcome_summary, verdict_lines
from dpspec.report.yardsticks import power_in_words
from dpspec.risks.attack_bounds import allowed_power, power_at_step
from dpspec.risks.engine import RiskRow, at_universe_of, dataset_of, parsed
from dpspec.risks.numbers import RiskNumbers
from dpspec.scaffold import write_schema, write_spec
from dpspec.specfile.deployment import (
    KINDS_OF_PRODUCT,
    TRUST,
    Deployment,
    PublishedSource,
)
from dpspec.specfile.document import Expectation
from dpspec.specfile.maker import FilePositions
from dpspec.specfile.reader import (
    REPORT,
    SCHEMA_LINE,
    SUFFIX,
    check_ids,
    decoded,
    load_text,
    parse,
    read_text,
)
from dpspec.specfile.table_input import WARNING
from dpspec.specfile.writer import to_toml
from dpspec.verifier.document import FileReport, verify_document
from dpspec.verifier.obligations import Obligation
from dpspec.verifier.proof import METHOD
from dpspec.verifier.replay import witness_file
from dpspec.verifier.secrets import worst_change
from dpspec.verifier.standing import Standing, claim_of, failure_code, standing
from dpspec.verifier.verdict import Witness

__all__ = [
    "BAD",
    "FAINT",
    "GOOD",
    "KEEPING",
    "KINDS_OF_PRODUCT",
    "METHOD",
    "REPORT",
    "SCHEMA_LINE",
    "SUFFIX",
    "TRUST",
    "WARNING",
    "Answer",
    "BlockRow",
    "Bullets",
    "CaptionedFigure",
    "CertificateError",
    "CertificateVersionError",
    "Composition",
    "CurveLine",
    "CurvePanel",
    "CurvePoints",
    "CurveSubject",
    "Deployment",
    "DiagramBox",
    "Direction",
    "Expectation",
    "Figure",
    "FigureFile",
    "FilePositions",
    "FileReport",
    "Grid",
    "Heading",
    "JsonData",
    "LibraryError",
    "MissingKeyError",
    "MissingLibraryError",
    "Mood",
    "NoFormulaError",
    "NotCertifiableError",
    "Obligation",
    "Order",
    "OwnFaultError",
    "Page",
    "PageParts",
    "Part",
    "PictureError",
    "Piece",
    "Progress",
    "PublishedSource",
    "RecordVersionError",
    "RefutedPartError",
    "Registry",
    "RegistryCheckError",
    "ReleaseError",
    "RiskNumbers",
    "RiskRow",
    "Sentence",
    "Sources",
    "SpecTooLargeError",
    "Standing",
    "UnknownKeyError",
    "UnknownNameError",
    "UnreadableFileError",
    "Verbatim",
    "Witness",
    "Word",
    "WrongShapeError",
    "YamlError",
    "add_up",
    "allowed_power",
    "allowed_to_all",
    "as_document",
    "as_documents",
    "at_most_in_words",
    "at_universe_of",
    "audience_data",
    "blocks_figure",
    "blocks_in_words",
    "blocks_of",
    "bracket_data",
    "bracket_in_words",
    "budget_at",
    "budget_in_short",
    "budget_in_words",
    "chart",
    "check_ids",
    "claim_of",
    "claim_status",
    "collect",
    "compared",
    "compose_parts",
    "contributed",
    "count",
    "counted",
    "curve_subject",
    "dataset_of",
    "decoded",
    "did_you_mean",
    "document_at",
    "documents_of",
    "drawn",
    "each",
    "end_in_words",
    "ended_standing",
    "fact_in_words",
    "failure_code",
    "figure_file",
    "file_numbers",
    "file_report_data",
    "folded",
    "guarded",
    "harmless",
    "headline",
    "in_markup",
    "in_order",
    "is_plain",
    "jobs_for",
    "json_text",
    "json_written",
    "ledger_data",
    "level_in_words",
    "load_text",
    "log",
    "longer_units",
    "margins",
    "multiverse_in_words",
    "named_unit",
    "noise_laws",
    "number_in_words",
    "numbers_cells",
    "numbers_data",
    "numbers_note",
    "numbers_title",
    "order",
    "order_data",
    "order_figure",
    "order_mark",
    "order_specs",
    "origins",
    "outcome_summary",
    "pair_in_words",
    "parameters",
    "parse",
    "parsed",
    "part_in_words",
    "power_at_step",
    "power_in_words",
    "power_lines",
    "printed",
    "probability_in_words",
    "process_pool",
    "processors",
    "promise",
    "promise_for",
    "public_standing",
    "raise_all",
    "read_bytes",
    "read_text",
    "read_unit",
    "renderer",
    "requirements",
    "space_in_words",
    "stand_ins_in_words",
    "standards",
    "standing",
    "standing_data",
    "step_in_words",
    "steps",
    "table_notes",
    "thing_by_name",
    "thing_in_words",
    "to_html",
    "to_toml",
    "verdict_lines",
    "verify_document",
    "witness_file",
    "worst_change",
    "worst_code",
    "worst_word",
    "write_bytes",
    "write_folder",
    "write_schema",
    "write_spec",
    "write_whole",
]
