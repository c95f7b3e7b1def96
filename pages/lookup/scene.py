"""The scene of a look-up: a query asks every record's key, and each hands over as much of its value as its weight."""

from functools import partial

import numpy as np

from attention_core.attention.edits import SetWeights, Uniform
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.attention.view.scene import scene_data
from attention_core.bounds.harmless import escape_hidden
from attention_core.charts.bars import bar_table
from attention_core.charts.ramps import ROLE_COLOURS
from attention_core.device import to_array
from attention_core.inference.soft_lookup import points_around_queries
from pages.lookup.first_screen import fits_nothing
from pages.lookup.inputs import LookUp
from pages.lookup.table import EDITS, MATCHING, NAME, QUERY, LookupRequest, guess_again
from ui.chart import note_picture
from ui.edits import WeightsRow
from ui.layout import grey_out
from ui.scene import TABLE, SceneChoice, draw_scene, scene_choice
from ui.try_this import is_guessing

EVEN = "every record gets the same weight"


def draw_lookup_scene(lookup: LookUp) -> None:
    """Draw how the records are looked up for a query; another one, a weight or a way is chosen in it."""
    request, trace, query = lookup.request, lookup.trace, lookup.query
    records, weights = request.records, to_array(trace.weights()[query])
    grey_out("lookup_scene", not request.is_present)
    labels = trace.story.key_axis.labels
    columns = {"weight": weights.tolist()}
    note_picture(partial(bar_table, labels, columns, (ROLE_COLOURS[Role.WEIGHTS],)), "Weights of all records")

    def on_choose() -> None:
        if choice := scene_choice(NAME, trace.n_queries, trace.n_keys):
            _change(request, trace, choice)

    note = f"The nearer to the query, the higher the score: a cosine by {next(iter(lookup.encoders))}."
    ways = to_array(lookup.encoders.get("meaning", lookup.encoder).embed(records.keys))
    data = table_data(request, trace, ways) | {
        "query": query,
        "focus": MATCHING.value,
        "note": "" if is_guessing(NAME) else note,
        "plays": request.is_present,
        "covered": is_guessing(NAME),
        "titles": [*map(escape_hidden, records.keys)],
    }
    draw_scene(NAME, data, on_choose, TABLE)


def table_data(request: LookupRequest, trace: AttentionTrace, ways: np.ndarray) -> dict[str, object]:
    """Return what scene_table.js reads of a look-up.

    The directions in which keys stand follow from `ways` (n_keys, d), however they are compared.
    """
    records, data = request.records, scene_data(trace, nouns=("query", "key"))
    vectors, keys = to_array(trace.query[0]), to_array(trace.key_of(0))
    cosines = vectors @ keys.T * (not is_guessing(NAME))  # what is guessed is not seen
    stored = {text: key for key, text in enumerate(records.keys)}  # a dictionary keeps the last of equal keys
    edited = {edit.query for edit in trace.edits if isinstance(edit, SetWeights)}
    return data | {
        "queries": [*map(escape_hidden, request.queries)],
        "keys": [*map(escape_hidden, data["keys"])],
        "values": [*map(escape_hidden, records.values)],
        "names": [records.key_name, records.value_name],
        "exact": [stored.get(text) for text in request.queries],
        "points": points_around_queries(ways, cosines).round(4).tolist(),
        "unlike": [fits_nothing(trace, query) for query in range(trace.n_queries)],
        "equal": len(records.keys) > 1,
        "isEven": Uniform() in trace.edits,
        "changed": [*edited],
        "isEdited": bool({*trace.edits} - {Uniform()}),
    }


def _change(request: LookupRequest, trace: AttentionTrace, choice: SceneChoice) -> None:
    """Ask another query, change a weight of it, or weigh all records alike, or no longer."""
    if choice.row != QUERY.value:
        guess_again()
        QUERY.value = choice.row
    if choice.focus:
        MATCHING.value = choice.focus
    if choice.is_reset:
        EDITS.reset()
    elif choice.key is not None:
        WeightsRow(EDITS, trace, [choice.row], input_id=request.in_words).set_weight([choice.key], choice.weight)
    elif choice.focus == "attention" and choice.is_even != (Uniform() in trace.edits):
        if choice.is_even:
            EDITS.add(Uniform(), description=EVEN, input_id=request.in_words)
        else:
            EDITS.remove(Uniform())
