"""The records to look up in: a table to begin with, and what a visitor makes of it."""

from typing import NamedTuple

from pages.lookup import records as core
from ui.edits import EditList
from ui.state import Field, followed_address, is_mounted, one_of, single_choice, slugs, whole_number
from ui.try_this import TRY_STAGE

NAME = "lookup"
COMPARISONS = ("spelling", "meaning")
BY = Field(NAME, "by", COMPARISONS[0], address="by", parse=one_of(COMPARISONS))
SLUGS = {preset.lower().replace(" ", "-"): preset for preset in core.PRESETS}
FIRST_TABLE, FORMERLY_FIRST = next(iter(core.PRESETS)), "Papers"


def _table_on_arrival() -> str:
    """Return the first table; the papers for what is set without one, as links had it when those came first."""
    address = followed_address()
    had_table = is_mounted(f"{NAME}_preset")
    is_set = any(field.address in address or (had_table and field.encode()) for field in OF_TABLE)
    return FORMERLY_FIRST if is_set else FIRST_TABLE


PRESET = Field(
    NAME,
    "preset",
    _table_on_arrival,
    address="table",
    parse=(SLUGS | {"what-a-paper-says": FORMERLY_FIRST, "noisy-time-series": FIRST_TABLE}).__getitem__,
    text=lambda preset: next(slug for slug, name in SLUGS.items() if name == preset),
)
LOADED = Field(NAME, "loaded", "")  # the preset that the fields below began with
RECORDS = Field(NAME, "records", "", address="records")
"""One record a line."""
QUERIES = Field(NAME, "queries", "", address="q")
"""One query a line."""
QUERY = Field(NAME, "query", 0, address="query", parse=whole_number)
TEMPERATURES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0)
TEMPERATURE = Field(NAME, "temperature", 0.05, address="temperature", parse=one_of(TEMPERATURES))
MATCHING = Field(NAME, "matching", "attention", address="matching", **slugs(exact="vector", soft="attention"))
"""Whether the scene shows a dictionary, in place of one vector, or the soft look-up."""
EDITS = EditList(NAME)
OF_TABLE = (RECORDS, QUERIES, QUERY, TEMPERATURE, BY)
guess_again = TRY_STAGE[NAME].reset
"""Closes the verdict on a guess; called where records or query change."""


class LookupRequest(NamedTuple):
    records: core.Records
    queries: tuple[str, ...]  # at least one
    remarks: tuple[str, ...]  # what was left out or changed
    is_present: bool  # False: nothing of what a visitor typed can be used, and this is the preset
    text: str  # the records as they were typed

    @property
    def in_words(self) -> str:
        """The queries and keys, which an edit is about, as one text that distinguishes inputs."""
        return "\n".join((*self.queries, *self.records.keys))


def chosen_table() -> core.LookupPreset:
    """Return the chosen preset; where it is new, set the fields to what it brings."""
    preset = core.PRESETS[PRESET.value]
    if PRESET.value != LOADED.value or not RECORDS.has_set_default:
        LOADED.value = PRESET.value
        RECORDS.set_default(preset.text)
        QUERIES.set_default("\n".join(preset.queries))
        BY.set_default(preset.by)
        TEMPERATURE.set_default(preset.temperature)
        QUERY.set_default(QUERY.default)
    return preset


def current_request(preset: core.LookupPreset) -> LookupRequest:
    """Return the visitor's records and queries, or those of the preset where none of them can be used."""
    usable = core.read_records(RECORDS.value, *preset.names)
    query_table = core.read_queries(QUERIES.value) if usable.records else core.QueryTable(())
    remarks = (*usable.remarks, *query_table.remarks)
    if usable.records and query_table.queries:
        return LookupRequest(usable.records, query_table.queries, remarks, True, RECORDS.value)
    return LookupRequest(preset.records, tuple(preset.queries), remarks, False, RECORDS.value)


def choose_table() -> None:
    single_choice("Table", PRESET, list(core.PRESETS), label_visibility="collapsed", wrap=True, on_change=guess_again)
