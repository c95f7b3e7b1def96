"""The scene of the chosen head: which pieces each piece attends to, and in the decoder the piece that comes next."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from attention_core import AttentionTrace
from attention_core.attention.edits import SetWeights
from attention_core.attention.view.scene import scene_data
from attention_core.charts.words import word_weights
from attention_core.data.word_translations import expanded_english_words
from attention_core.device import to_array
from attention_core.inference import translation_scene as core
from attention_core.inference.glosses import english_below
from attention_core.inference.translation import SourceSentence, Translation, read_source
from attention_core.models.transformer import KINDS
from pages.transformer import reading as page
from pages.transformer.inputs import QUERY, ChosenHead, draw_arcs, draw_choice, weights_row
from ui.chart import note_picture
from ui.component import component
from ui.computed import cached_computation
from ui.scene import draw_scene, scene_choice
from ui.state import BAD_VALUE_ERRORS, component_message
from ui.translators import translation

MAX_KEYS = 24
"""Keys of a scene; over more, arcs are drawn in its place."""
AUXILIARIES = {"ai", "as", "a", "avons", "avez", "ont"}  # French words that often help another verb and mean no word
ASKS = {"encoder": "English asks English", "decoder": "French asks French", "cross": "French asks English"}
ALSO_READ = "Cross-attention also reads the English."  # why the same word may come without a French one
SCENE = f"{page.NAME}_head"
_head_scene = component("head_scene", folder="pages/transformer")
_scene_answers = cached_computation(on_cluster=True)(core.scene_answers)


def draw_head_scene(chosen: ChosenHead) -> None:
    """Draw the scene of a head at the chosen query; over more than MAX_KEYS keys, arcs and the choice of a head."""
    if chosen.trace.n_keys > MAX_KEYS:
        draw_arcs(chosen)
        draw_choice(chosen.reading)
        return

    def on_choose() -> None:
        choice = scene_choice(SCENE, chosen.trace.n_queries, chosen.trace.n_keys)
        if choice is None:
            return
        QUERY.value = choice.row
        if head_name := component_message(f"{SCENE}_scene", "chosen").get("head"):
            _choose_head(head_name)
            return
        query_weights = weights_row(chosen, choice.row)
        if choice.is_reset:
            page.EDITS.reset()
        elif choice.key in query_weights.keys and choice.weight:
            query_weights.set_weight([choice.key], choice.weight)
        elif choice.key in query_weights.keys:
            cross_out(chosen, choice.row, choice.key)

    data = _scene_data(chosen)
    picture = partial(word_weights, data["keys"], data["queries"], to_array(chosen.weights), chosen.query, "")
    note_picture(picture, f"{chosen.head.label}: where “{data['queries'][chosen.query]}” looks")
    draw_scene(SCENE, data, on_choose, _head_scene)


def _choose_head(name: object) -> None:
    """Choose the head of a name such as "cross-2-3"; of another kind, with the query that attends most to a word."""
    with suppress(*BAD_VALUE_ERRORS):
        head = page.parse_head(str(name))
        if head.kind != page.CHOSEN.value.kind:
            QUERY.reset()  # to UNCHOSEN
        page.CHOSEN.value = head


def cross_out(chosen: ChosenHead, query: int, key: int) -> None:
    """Cross out a key for a query, in all heads of the chosen kind and all layers; if it is crossed out, undo that."""
    traces, mask = _traces_of_kind(chosen), chosen.trace.allowed(chosen.head.head, [query])
    is_cut = mask is not None and not mask[0, key]
    for layer, trace in enumerate(traces):
        head = chosen.head._replace(layer=layer)
        query_weights = weights_row(chosen._replace(head=head, trace=trace), query)
        query_weights = query_weights._replace(head=None, prefix=f"{head.kind}, layer {layer + 1}: ")  # of all heads
        if not is_cut:
            query_weights.set_weight([key], 0.0)
            continue
        cuts = [SetWeights(query, ((key, 0.0),), head_index) for head_index in (None, chosen.head.head)]
        page.EDITS.remove(*cuts, attention=query_weights.attention)


def _traces_of_kind(chosen: ChosenHead) -> list[AttentionTrace]:
    """Return the traces of all layers of the chosen kind."""
    traces = page.traces(chosen.reading)
    return [traces[chosen.head.kind, layer] for layer in range(page.CONFIG.n_layers)]


def answers_at(reading: page.Reading, rows: Sequence[int]) -> list[list[core.Answer]]:
    """Return the likeliest pieces at some rows of the translation as trained, best first.

    A piece counts as said by the translation only where the edits leave the likeliest piece as it was.
    """
    source, ids = read_source(reading.text), tuple(translation(page.TRANSLATOR, reading.text).ids)
    edited, trained = (
        _scene_answers(page.edited(variant), source, ids, tuple(rows))
        for variant in (reading, reading._replace(edits={}))
    )
    return [
        [(text, probability, is_said and answers[0][0] == before[0][0]) for text, probability, is_said in answers]
        for answers, before in zip(edited, trained, strict=True)
    ]


def _heads_data(chosen: ChosenHead) -> dict[str, Any]:
    """Return what head_scene.js reads of all heads of the chosen kind, such as their weights from the chosen query."""
    kind, traces = chosen.head.kind, _traces_of_kind(chosen)
    edits_by_layer = [{edit for edit in trace.edits if isinstance(edit, SetWeights)} for trace in traces]
    edits_of_all_heads = [edit for edit in set.intersection(*edits_by_layer) if edit.head is None]
    keys_cut_by_query = [
        [key for edit in edits_of_all_heads if edit.query == query for key, weight in edit.weights if not weight]
        for query in range(chosen.trace.n_queries)
    ]
    n_heads_of_kind = page.CONFIG.n_layers * page.CONFIG.n_heads
    return {
        "n": len(KINDS) * n_heads_of_kind,
        "of": f"all {n_heads_of_kind} heads of {'cross-attention' if kind == 'cross' else f'the {kind}'}",
        "cut": keys_cut_by_query,
        "also": "" if kind == "cross" or any("cross" in layer for layer in chosen.reading.edits) else ALSO_READ,
        "kinds": ASKS,
        "chosen": [kind, chosen.head.layer + 1, chosen.head.head + 1],
        "weights": [
            [trace.weights(head, [chosen.query])[0].round(decimals=3).tolist() for head in range(trace.n_heads)]
            for trace in traces
        ],
    }


def _piece_glosses(french: Translation, sentence: str) -> list[str]:
    """Return what each piece of a translation means in English, in words of the sentence; "" where that is unsure.

    It is unsure for a piece that is not a complete word, and for AUXILIARIES.
    """
    n_pieces, english = Counter(french.word_of), {word.lower() for word in expanded_english_words(sentence)}
    are_words = [n_pieces[word] == 1 and word < len(french.words) for word in french.word_of]
    glossed_pieces = zip(french.labels, english_below(french.labels, sentence), are_words, strict=True)
    return [
        gloss if is_word and gloss.lower() in english and piece not in AUXILIARIES else ""
        for piece, gloss, is_word in glossed_pieces
    ]


def _key_noun(kind: str, french: Translation, source: SourceSentence) -> str:
    """Return what captions call a key: a piece if a word of its language is cut into pieces here, else a word."""
    if kind == "decoder":
        has_split_words = len({*french.word_of}) < len(french.word_of)
        return f"French {'piece' if has_split_words else 'word'} so far"
    return f"English {'piece' if source.split_words else 'word'}"


def _scene_data(chosen: ChosenHead) -> dict[str, Any]:
    """Return the data of a head's scene; a query of the decoder is called after the piece that it is about to say."""
    reading, head, trace, query = chosen
    french, source = translation(page.TRANSLATOR, reading.text), read_source(reading.text)
    has_french_queries, joined_english = head.kind != "encoder", core.joined_pieces(source.word_of)
    query_labels = page.traces(reading)["cross", head.layer].story.query_axis.labels if has_french_queries else None
    keys = list(trace.story.key_axis.labels)
    boundary = 0 if head.kind == "decoder" else -1  # the start of the French or the end of the English
    keys[boundary] = f"({keys[boundary]})"  # which is no word
    noun = _key_noun(head.kind, french, source)
    data = scene_data(trace, head.head, query_labels=query_labels, key_labels=keys, nouns=("query", noun))
    data |= {"joinedKeys": joined_english, "joinedQueries": joined_english}
    if has_french_queries:
        data["answers"] = answers_at(reading, range(trace.n_queries))
        data["joinedQueries"] = joined_french = core.joined_pieces(french.word_of)
        if head.kind == "decoder":  # its first key is the start
            data["joinedKeys"] = [piece + 1 for piece in joined_french]
        data["glosses"] = _piece_glosses(french, reading.text)
        data["hasLaterKeys"] = head.kind == "decoder"  # which are not written yet when the query asks
        data["note"] = "A click crosses a word out in all these heads; pulling its column changes the chosen one."
    changed_queries = {edit.query for edit in trace.edits if isinstance(edit, SetWeights) and edit.head == head.head}
    return data | {
        "query": query,
        "heads": _heads_data(chosen),
        "changed": sorted(changed_queries),
        "isEdited": bool(reading.edits),
        "plays": True,
    }
