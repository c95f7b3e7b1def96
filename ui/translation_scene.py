"""The scene of a translated sentence: what each French word asks the English ones, beside what comes of one vector."""

from functools import partial
from typing import Any

from attention_core.attention.edits import UNIFORM, SetWeights, Uniform
from attention_core.charts.words import word_weights
from attention_core.device import to_array
from attention_core.inference import translation_scene as core
from attention_core.inference.translation import TracedTranslation, read_source
from ui import translators as network
from ui.chart import note_picture
from ui.computed import cached_computation

_answers = cached_computation(on_cluster=True)(core.scene_answers)
_changed_answers = cached_computation(on_cluster=True)(core.changed_answers)


def translation_data(
    attentive: TracedTranslation | None,
    single: TracedTranslation | None,
    text: str,
    row: int,
    *,
    can_change: bool = False,
) -> dict[str, Any]:
    """Return the data of the scene of a model with attention, of one that has a single vector, or of both.

    Args:
        attentive: what a model with attention makes of the text; None = there is none.
        single: what one makes of it that has a single vector; None = there is none.
        text: the English sentence.
        row: the French word that is taken along as a picture.
        can_change: whether what comes of other weights is to be told at once.
    """
    traced = attentive or single
    if traced is None:
        raise ValueError("a scene needs a translation")
    note_weights(traced, min(row, len(traced.view.target) - 1))
    data = attention_data(attentive, text, can_change) if attentive else _words_alone(traced, text)
    return data | {"vector": core.vector_data(single, text) if single else None, "canChange": can_change}


def note_weights(traced: TracedTranslation, row: int) -> None:
    """Note the weights of a French word as a picture that is taken along."""
    view = traced.view
    picture = partial(word_weights, view.source, view.target, to_array(view.weights), row, "")
    note_picture(picture, f"{network.TRANSLATORS[traced.translator]}: where “{view.target[row]}” looks")


def attention_data(traced: TracedTranslation, text: str, can_change: bool = False) -> dict[str, Any]:
    """Return the data of the scene of a model with attention, but for one vector; see translation_data."""
    model, source, trace = network.model_of(traced.translator), read_source(text), traced.trace
    rows, ids = tuple(traced.view.first_piece), tuple(traced.translation.ids)
    data = core.translation_scene(traced, 0, _answers(model, source, ids, rows, tuple(trace.edits)), text)
    data["equal"] = _answers(model, source, ids, rows, UNIFORM)
    if can_change and not trace.edits:
        data |= _changed_answers(model, source, ids, rows, tuple(trace.weights(0, rows).argmax(-1).tolist()))
    n_heads = trace.n_heads
    note = (
        f"Scores and weights are those of head 1 of {n_heads}; what is said comes of all heads." if n_heads > 1 else ""
    )
    set_rows = {edit.query for edit in trace.edits if isinstance(edit, SetWeights)}
    changed = [row for row, piece in enumerate(rows) if piece in set_rows]
    is_edited = bool({*trace.edits} - {Uniform()})
    return data | {"isEven": Uniform() in trace.edits, "changed": changed, "isEdited": is_edited, "note": note}


def _words_alone(traced: TracedTranslation, text: str) -> dict[str, Any]:
    keys, joined = core.source_keys(read_source(text))
    return {
        "keys": keys,
        "joinedKeys": joined,
        "queries": traced.view.target,
        "glosses": core.word_glosses(traced, text),
        "nouns": core.NOUNS,
        "scores": None,
        "weights": None,
    }
