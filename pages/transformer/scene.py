"""The scene of the chosen head: what each piece asks of which others, and in the decoder the piece that comes next."""

from collections import Counter
from functools import partial
from typing import Any

from attention_core import AttentionTrace
from attention_core.attention.edits import SetWeights
from attention_core.attention.view.scene import scene_data
from attention_core.charts.words import word_weights
from attention_core.device import to_array
from attention_core.inference import translation_scene as core
from attention_core.inference.glosses import english_below
from attention_core.inference.translation import Translation, read_source
from attention_core.models.transformer import KINDS
from pages.transformer import reading as page
from pages.transformer.inputs import QUERY, ChosenHead, draw_arcs, weights_row
from ui.chart import note_picture
from ui.computed import cached_computation
from ui.scene import draw_scene, scene_choice
from ui.translators import translation
from ui.try_this import GUESSING, TRY_STAGE

MAX_KEYS = 24
NOUNS = {
    "encoder": ("piece", "English piece"),
    "decoder": ("French piece", "French piece that is there"),
    "cross": ("French piece", "English piece"),
}
SCENE = f"{page.NAME}_head"
_answers = cached_computation(on_cluster=True)(core.scene_answers)


def draw_head_scene(chosen: ChosenHead) -> None:
    """Draw the scene of a head at the chosen query; over more than MAX_KEYS pieces, where each of them looks."""
    if chosen.trace.n_keys > MAX_KEYS:
        draw_arcs(chosen)
        return

    def on_choose() -> None:
        choice = scene_choice(SCENE, chosen.trace.n_queries, chosen.trace.n_keys)
        if choice is None:
            return
        QUERY.value = choice.row
        row = weights_row(chosen, choice.row)
        if choice.is_reset:
            page.EDITS.reset()
        elif choice.key in row.keys and choice.weight:
            row.set_weight([choice.key], choice.weight)
        elif choice.key in row.keys:
            _cross_out(chosen, choice.row, choice.key)

    data = _scene_data(chosen)
    picture = partial(word_weights, data["keys"], data["queries"], to_array(chosen.weights), chosen.query, "")
    note_picture(picture, f"{chosen.head.label}: where “{data['queries'][chosen.query]}” looks")
    draw_scene(SCENE, data, on_choose)


def _cross_out(chosen: ChosenHead, query: int, key: int) -> None:
    """Let no head of the chosen kind, in any layer, look at a key from a query; where it does not, let it again."""
    traces, allowed = _traces_of_kind(chosen), chosen.trace.allowed(chosen.head.head, [query])
    is_cut = allowed is not None and not allowed[0, key]
    for layer, trace in enumerate(traces):
        head = chosen.head._replace(layer=layer)
        row = weights_row(chosen._replace(head=head, trace=trace), query)
        row = row._replace(head=None, prefix=f"{head.kind}, layer {layer + 1}: ")
        if not is_cut:
            row.set_weight([key], 0.0)
            continue
        cuts = [SetWeights(query, ((key, 0.0),), each) for each in (None, chosen.head.head)]
        page.EDITS.remove(*cuts, attention=row.attention)


def _traces_of_kind(chosen: ChosenHead) -> list[AttentionTrace]:
    """Return the traces of all layers of the chosen kind."""
    traces = page.traces(chosen.reading)
    return [traces[chosen.head.kind, layer] for layer in range(page.CONFIG.n_layers)]


def _together(chosen: ChosenHead) -> dict[str, Any]:
    """Return what the captions tell of the model's other heads: see captionOfHeads in scene_captions.js."""
    per_kind = page.CONFIG.n_layers * page.CONFIG.n_heads
    cuts = [{edit for edit in trace.edits if isinstance(edit, SetWeights)} for trace in _traces_of_kind(chosen)]
    lost = [edit for edit in set.intersection(*cuts) if edit.head is None]
    cut = [
        [key for edit in lost if edit.query == query for key, weight in edit.weights if not weight]
        for query in range(chosen.trace.n_queries)
    ]
    kind = "of the decoder" if chosen.head.kind == "decoder" else "of cross-attention"
    return {"n": len(KINDS) * per_kind, "of": f"all {per_kind} heads {kind}", "cut": cut}


def _piece_glosses(french: Translation, sentence: str) -> list[str]:
    """Return what each piece of a translation means in English; "" below a mark or one of several pieces of a word."""
    n_pieces, glosses = Counter(french.word_of), english_below(french.labels, sentence)
    is_word = [n_pieces[word] == 1 and word < len(french.words) for word in french.word_of]
    return [gloss if whole else "" for gloss, whole in zip(glosses, is_word, strict=True)]


def _scene_data(chosen: ChosenHead) -> dict[str, Any]:
    """Return the data of a head's scene; a query of the decoder is called after the piece that it is about to say."""
    reading, head, trace, query = chosen
    is_decoder = head.kind != "encoder"
    labels = page.traces(reading)["cross", head.layer].story.query_axis.labels if is_decoder else None
    data = scene_data(trace, head.head, query_labels=labels, nouns=NOUNS[head.kind])
    if is_decoder:
        french, rows = translation(page.TRANSLATOR, reading.text), tuple(range(trace.n_queries))
        data["answers"] = _answers(page.edited(reading), read_source(reading.text), tuple(french.ids), rows)
        data["glosses"] = _piece_glosses(french, reading.text)
        data["heads"] = _together(chosen)
        data["hasLaterKeys"] = head.kind == "decoder"  # which are not written yet when the query asks
        data["note"] = "Scores and weights are those of this head."
    changed = {edit.query for edit in trace.edits if isinstance(edit, SetWeights) and edit.head == head.head}
    return data | {
        "query": query,
        "changed": sorted(changed),
        "isEdited": bool(reading.edits),
        "plays": True,
        "covered": TRY_STAGE[page.NAME].value == GUESSING,
    }
