"""Datasets made of events, elements or weighted records, and the units that go with them."""

from __future__ import annotations

from dpspec_flavours.streams.element_records import ElementRecords
from dpspec_flavours.streams.event_streams import EventStreams
from dpspec_flavours.streams.one_sided import MultOneWay, OneSided, OpenSample
from dpspec_flavours.streams.personal import PersonalisedResponse, PersonalWeights, RecordWeights
from dpspec_flavours.streams.record_flavours import ElementLevelDP, OneSidedDP, PersonalisedDP, WeightedDP
from dpspec_flavours.streams.time_flavours import EventLevelDP, UserLevelDP, UserWindowDP, WEventDP
from dpspec_flavours.streams.weighted_records import WeightDistance, WeightedRecords
from dpspec_flavours.streams.window_events import WindowEvents

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
