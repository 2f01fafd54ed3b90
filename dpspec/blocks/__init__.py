"""The five blocks of a specification: spaces, universes, invariants, input and output divergences, budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.base.lazy import late_names

if TYPE_CHECKING:
    from dpspec.blocks.bounded import (
        BoundedIntegers as BoundedIntegers,
        BoundedReals as BoundedReals,
        ClippedVectors as ClippedVectors,
        TimeSeries as TimeSeries,
    )
    from dpspec.blocks.budget import Budget as Budget, BudgetTable as BudgetTable, UniformBudget as UniformBudget
    from dpspec.blocks.input_divergence import (
        MOST_VECTORS as MOST_VECTORS,
        InputDivergence as InputDivergence,
        RecordSteps as RecordSteps,
        Relation as Relation,
        WithinDistance as WithinDistance,
    )
    from dpspec.blocks.invariant import (
        FunctionInvariant as FunctionInvariant,
        Invariant as Invariant,
        LinearMap as LinearMap,
        Marginal as Marginal,
    )
    from dpspec.blocks.lists import Texts as Texts, ValueLists as ValueLists
    from dpspec.blocks.moves import Vector as Vector, kernel_basis as kernel_basis
    from dpspec.blocks.multisets import (
        CELLS_LISTED as CELLS_LISTED,
        Multisets as Multisets,
        all_records as all_records,
        check_attributes as check_attributes,
        combined as combined,
        count_records as count_records,
        multisets_between as multisets_between,
        read_record as read_record,
        sequences_between as sequences_between,
        sequences_of as sequences_of,
    )
    from dpspec.blocks.multiverse import (
        ExplicitUniverses as ExplicitUniverses,
        LevelSets as LevelSets,
        Multiverse as Multiverse,
        Trivial as Trivial,
        Universe as Universe,
        fixes_each_attribute as fixes_each_attribute,
        fixes_table as fixes_table,
    )
    from dpspec.blocks.output_divergence import (
        Composed as Composed,
        EventBounds as EventBounds,
        OutputDivergence as OutputDivergence,
        SpentBudgets as SpentBudgets,
        WorstPairs as WorstPairs,
        added as added,
        total as total,
    )
    from dpspec.blocks.parts import (
        CellCounts as CellCounts,
        CellRecords as CellRecords,
        Changes as Changes,
        Choice as Choice,
        Collections as Collections,
        Entries as Entries,
        ListedCells as ListedCells,
        Membership as Membership,
        Mentioned as Mentioned,
        Miniatures as Miniatures,
        Nesting as Nesting,
        NumberLists as NumberLists,
        Palette as Palette,
        SimplerNames as SimplerNames,
        Sizes as Sizes,
        Tabular as Tabular,
        Trials as Trials,
        Unnested as Unnested,
        Wording as Wording,
        check_places as check_places,
        counting_cells as counting_cells,
        few_cells as few_cells,
        listed_cells as listed_cells,
        listing_size as listing_size,
        miniature_of as miniature_of,
        nesting_of as nesting_of,
        order_tried as order_tried,
        own_attributes as own_attributes,
        resized as resized,
        sizes_of as sizes_of,
        tabular as tabular,
        wording_of as wording_of,
    )
    from dpspec.blocks.records import (
        ContingencyTables as ContingencyTables,
        Households as Households,
        OrderedRecords as OrderedRecords,
        UnorderedRecords as UnorderedRecords,
    )
    from dpspec.blocks.space import (
        MEMBERS as MEMBERS,
        Attribute as Attribute,
        Dataset as Dataset,
        DatasetSpace as DatasetSpace,
        Record as Record,
        is_dataset as is_dataset,
        pair_of_records as pair_of_records,
        presented as presented,
    )
    from dpspec.blocks.vectors import BitVectors as BitVectors, IntegerCounts as IntegerCounts

_HOMES = {
    "dpspec.blocks.bounded": (
        "BoundedIntegers",
        "BoundedReals",
        "ClippedVectors",
        "TimeSeries",
    ),
    "dpspec.blocks.budget": (
        "Budget",
        "BudgetTable",
        "UniformBudget",
    ),
    "dpspec.blocks.input_divergence": (
        "InputDivergence",
        "MOST_VECTORS",
        "RecordSteps",
        "Relation",
        "WithinDistance",
    ),
    "dpspec.blocks.invariant": (
        "FunctionInvariant",
        "Invariant",
        "LinearMap",
        "Marginal",
    ),
    "dpspec.blocks.lists": (
        "Texts",
        "ValueLists",
    ),
    "dpspec.blocks.moves": (
        "Vector",
        "kernel_basis",
    ),
    "dpspec.blocks.multisets": (
        "CELLS_LISTED",
        "Multisets",
        "all_records",
        "check_attributes",
        "combined",
        "count_records",
        "multisets_between",
        "read_record",
        "sequences_between",
        "sequences_of",
    ),
    "dpspec.blocks.multiverse": (
        "ExplicitUniverses",
        "LevelSets",
        "Multiverse",
        "Trivial",
        "Universe",
        "fixes_each_attribute",
        "fixes_table",
    ),
    "dpspec.blocks.output_divergence": (
        "Composed",
        "EventBounds",
        "OutputDivergence",
        "SpentBudgets",
        "WorstPairs",
        "added",
        "total",
    ),
    "dpspec.blocks.parts": (
        "CellRecords",
        "Changes",
        "CellCounts",
        "Choice",
        "Collections",
        "Entries",
        "NumberLists",
        "ListedCells",
        "Membership",
        "Mentioned",
        "Miniatures",
        "Nesting",
        "Palette",
        "SimplerNames",
        "Sizes",
        "Tabular",
        "Trials",
        "Unnested",
        "Wording",
        "check_places",
        "counting_cells",
        "few_cells",
        "listed_cells",
        "listing_size",
        "miniature_of",
        "nesting_of",
        "order_tried",
        "own_attributes",
        "resized",
        "sizes_of",
        "tabular",
        "wording_of",
    ),
    "dpspec.blocks.records": (
        "ContingencyTables",
        "Households",
        "OrderedRecords",
        "UnorderedRecords",
    ),
    "dpspec.blocks.space": (
        "MEMBERS",
        "Attribute",
        "Dataset",
        "DatasetSpace",
        "Record",
        "is_dataset",
        "pair_of_records",
        "presented",
    ),
    "dpspec.blocks.vectors": (
        "BitVectors",
        "IntegerCounts",
    ),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
