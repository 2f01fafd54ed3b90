"""For packages that read, draw and write whole tables: what they take from the kernel.

    from dpspec.plugin.releases import format_of, given_table, whole

Such a package takes from `dpspec.plugin` and `dpspec.plugin.applications` as well. Here are, in this order: errors; files that
are written whole or not at all; random sources; what a space knows of its records; tables, their formats, and the workers that
draw them; what published tables disclose of records; the table that a command is given.
"""

from __future__ import annotations

from dpspec.base.errors import (
    DpspecError,
    LibraryError,
    PluginContractError,
    RefutedReleaseError,
    TableError,
    UnverifiedReleaseError,
    named,
)
from dpspec.base.files import check_regular, flags, lock, private_folder, to_disk, whole
from dpspec.base.memory import default_memory, read_size, size_text, spare_address_space
from dpspec.base.params import evolve
from dpspec.base.randomness import KeyedRandomness, SeededRandomness, SystemRandomness
from dpspec.blocks.parts import Collections, own_attributes
from dpspec.blocks.space import MEMBERS
from dpspec.extension.hooks import Provenance
from dpspec.grammar.mechanism import Kept
from dpspec.grammar.table_batches import PartCounts, TableSource, cells_wanted, count_cells, memory_of_counts
from dpspec.grammar.table_files import Formats, format_of, memory_of, read_table
from dpspec.grammar.tables import (
    HOUSEHOLD_ID,
    SEED,
    ColumnSeen,
    Countable,
    Members,
    SizedBuilder,
    TableLayout,
    files_of,
    occurring,
    ranked,
    regrouped,
)
from dpspec.grammar.workers import Folder, NoCheckpoints, Output, Run, Workers, nobody
from dpspec.report.terminal import grid
from dpspec.risks.engine import check_dataset, dataset_in
from dpspec.risks.exposure import MOST_KINDS, ExposedRecords, counts_exposing, exposed_records
from dpspec.specfile.reader import REPORT, SIZE_LIMIT, is_id
from dpspec.specfile.table_input import (
    WARNING,
    formats_of,
    given_sources,
    given_table,
    most_members,
    released_files,
    table_file,
    table_name,
)

__all__ = [
    "HOUSEHOLD_ID",
    "MEMBERS",
    "MOST_KINDS",
    "REPORT",
    "SEED",
    "SIZE_LIMIT",
    "WARNING",
    "Collections",
    "ColumnSeen",
    "Countable",
    "DpspecError",
    "ExposedRecords",
    "Folder",
    "Formats",
    "Kept",
    "KeyedRandomness",
    "LibraryError",
    "Members",
    "NoCheckpoints",
    "Output",
    "PartCounts",
    "PluginContractError",
    "Provenance",
    "RefutedReleaseError",
    "Run",
    "SeededRandomness",
    "SizedBuilder",
    "SystemRandomness",
    "TableError",
    "TableLayout",
    "TableSource",
    "UnverifiedReleaseError",
    "Workers",
    "cells_wanted",
    "check_dataset",
    "check_regular",
    "count_cells",
    "counts_exposing",
    "dataset_in",
    "default_memory",
    "evolve",
    "exposed_records",
    "files_of",
    "flags",
    "format_of",
    "formats_of",
    "given_sources",
    "given_table",
    "grid",
    "is_id",
    "lock",
    "memory_of",
    "memory_of_counts",
    "most_members",
    "named",
    "nobody",
    "occurring",
    "own_attributes",
    "private_folder",
    "ranked",
    "read_size",
    "read_table",
    "regrouped",
    "released_files",
    "size_text",
    "spare_address_space",
    "table_file",
    "table_name",
    "to_disk",
    "whole",
]
