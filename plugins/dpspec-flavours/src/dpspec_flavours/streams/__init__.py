"""Datasets made of events, elements or weighted records, and the units that go with them."""

from __future__ import annotations

from dpspec_flavours.streams.elements import ElementRecords, WeightDistance, WeightedRecords
from dpspec_flavours.streams.events import EventLevelDP, EventStreams, UserLevelDP, UserWindowDP, WEventDP, WindowEvents
from dpspec_flavours.streams.personal import (
    MultOneWay,
    OneSided,
    OpenSample,
    PersonalisedResponse,
    PersonalWeights,
    RecordWeights,
)
from dpspec_flavours.streams.record_flavours import ElementLevelDP, OneSidedDP, PersonalisedDP, WeightedDP

BLOCKS: dict[str, tuple[type, ...]] = {
    "spaces": (EventStreams, ElementRecords, WeightedRecords),
    "input_divergences": (WindowEvents, WeightDistance, PersonalWeights, RecordWeights, OneSided),
    "output_divergences": (MultOneWay,),
    "mechanisms": (PersonalisedResponse, OpenSample),
    "flavours": (
        EventLevelDP, UserLevelDP, UserWindowDP, WEventDP, ElementLevelDP, PersonalisedDP, WeightedDP, OneSidedDP,
    ),
}  # fmt: skip
"""What this part registers: classes by kind."""
