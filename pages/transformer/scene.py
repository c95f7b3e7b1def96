"""The scene of the chosen head: what each piece asks of which others, and in the decoder the piece that comes next."""

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
from ui.try_this import TRY_STAGE

MAX_KEYS = 24
AUXILIARIES = {"ai", "as", "a", "avons", "avez", "ont"}
ASKS = {"encoder": "English asks English", "decoder": "French asks French", "cross": "French asks English"}
ALSO_READ = "Cross-attention also reads the English."  # so that it may come without a French word
SCENE = f"{page.NAME}_head"
_head_scene = component("head_scene", folder="pages/transformer")
_answers = cached_computation(on_cluster=True)(core.scene_answers)


def draw_head_scene(chosen: ChosenHead) -> None:
    """Draw the scene of a head at the chosen query; over more than MAX_KEYS pieces, where each looks."""
    if chosen.trace.n_keys > MAX_KEYS:
        draw_arcs(chosen)
        draw_choice(chosen.reading)
        return

    def on_choose() -> None:
        choice = scene_choice(SCENE, chosen.trace.n_queries, chosen.trace.n_keys)
        if choice is None:
            return
        QUERY.value = choice.row
        if clicked := component_message(f"{SCENE}_scene", "chosen").get("head"):
            _choose_head(clicked)
            return
        row = weights_row(chosen, choice.row)
        if choice.is_reset:
            page.EDITS.reset()
        elif choice.key in row.keys and choice.weight:
            row.set_weight([choice.key], choice.weight)
        elif choice.key in row.keys:
            cross_out(chosen, choice.row, choice.key)

    data = _scene_data(chosen)
    picture = partial(word_weights, data["keys"], data["queries"], to_array(chosen.weights), chosen.query, "")
    note_picture(picture, f"{chosen.head.label}: where “{data['queries'][chosen.query]}” looks")
    draw_scene(SCENE, data, on_choose, _head_scene)


def _choose_head(name: object) -> None:
    """Choose the head of a name such as "cross-2-3"; of another kind with the query that looks far."""
    with suppress(*BAD_VALUE_ERRORS):
        head = page.parse_head(str(name))
        if head.kind != page.CHOSEN.value.kind:
            QUERY.reset()
        page.CHOSEN.value = head


def cross_out(chosen: ChosenHead, query: int, key: int) -> None:
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


def answers_at(reading: page.Reading, rows: Sequence[int]) -> list[list[core.Answer]]:
    """Return the likeliest pieces at some rows of what is said as trained, best first.

    One counts as said only where the changes leave the likeliest one as it was.
    """
    source, ids = read_source(reading.text), tuple(translation(page.TRANSLATOR, reading.text).ids)
    each = reading, reading._replace(edits={})
    now, trained = (_answers(page.edited(one), source, ids, tuple(rows)) for one in each)
    return [
        [(text, probability, is_said and answers[0][0] == before[0][0]) for text, probability, is_said in answers]
        for answers, before in zip(now, trained, strict=True)
    ]


def _heads_data(chosen: ChosenHead) -> dict[str, Any]:
    """Return what head_scene.js reads of all heads of the chosen kind: weights from the query, by layer and head."""
    kind, traces, n_layers = chosen.head.kind, _traces_of_kind(chosen), page.CONFIG.n_layers
    cuts = [{edit for edit in trace.edits if isinstance(edit, SetWeights)} for trace in traces]
    lost = [edit for edit in set.intersection(*cuts) if edit.head is None]
    cut = [
        [key for edit in lost if edit.query == query for key, weight in edit.weights if not weight]
        for query in range(chosen.trace.n_queries)
    ]
    n_heads = n_layers * page.CONFIG.n_heads
    return {
        "n": len(KINDS) * n_heads,
        "of": f"all {n_heads} heads of {'cross-attention' if kind == 'cross' else f'the {kind}'}",
        "cut": cut,
        "also": "" if kind == "cross" or any("cross" in layer for layer in chosen.reading.edits) else ALSO_READ,
        "kinds": ASKS,
        "chosen": [kind, chosen.head.layer + 1, chosen.head.head + 1],
        "weights": [
            [trace.weights(head, [chosen.query])[0].round(decimals=3).tolist() for head in range(trace.n_heads)]
            for trace in traces
        ],
        "isTried": bool(TRY_STAGE[page.NAME].value),
    }


def _piece_glosses(french: Translation, sentence: str) -> list[str]:
    """Return what each piece of a translation means in English, in words of the sentence; "" where that is unsure.

    That is so below a mark, one of several pieces of a word, and "a" or "ont", which help another verb.
    """
    n_pieces, english = Counter(french.word_of), {word.lower() for word in expanded_english_words(sentence)}
    is_word = [n_pieces[word] == 1 and word < len(french.words) for word in french.word_of]
    glosses = zip(french.labels, english_below(french.labels, sentence), is_word, strict=True)
    return [
        gloss if whole and gloss.lower() in english and piece not in AUXILIARIES else ""
        for piece, gloss, whole in glosses
    ]


def _key_noun(kind: str, french: Translation, source: SourceSentence) -> str:
    """Return what a key is called: a word where none of its language is cut into pieces."""
    if kind == "decoder":
        return f"French {'piece' if len({*french.word_of}) < len(french.word_of) else 'word'} so far"
    return f"English {'piece' if source.split_words else 'word'}"


def _scene_data(chosen: ChosenHead) -> dict[str, Any]:
    """Return the data of a head's scene; a query of the decoder is called after the piece that it is about to say."""
    reading, head, trace, query = chosen
    french, source = translation(page.TRANSLATOR, reading.text), read_source(reading.text)
    is_decoder, english_pieces = head.kind != "encoder", core.joined_pieces(source.word_of)
    labels = page.traces(reading)["cross", head.layer].story.query_axis.labels if is_decoder else None
    keys = list(trace.story.key_axis.labels)
    edge = 0 if head.kind == "decoder" else -1
    keys[edge] = f"({keys[edge]})"  # the start or the end, which is no word
    noun = _key_noun(head.kind, french, source)
    data = scene_data(trace, head.head, query_labels=labels, key_labels=keys, nouns=("query", noun))
    data |= {"joinedKeys": english_pieces, "joinedQueries": english_pieces}
    if is_decoder:
        data["answers"] = answers_at(reading, range(trace.n_queries))
        data["joinedQueries"] = french_pieces = core.joined_pieces(french.word_of)
        if head.kind == "decoder":  # its first key is the start
            data["joinedKeys"] = [piece + 1 for piece in french_pieces]
        data["glosses"] = _piece_glosses(french, reading.text)
        data["hasLaterKeys"] = head.kind == "decoder"  # which are not written yet when the query asks
        data["note"] = "A click crosses a word out in all these heads; pulling its column changes the chosen one."
    changed = {edit.query for edit in trace.edits if isinstance(edit, SetWeights) and edit.head == head.head}
    return data | {
        "query": query,
        "heads": _heads_data(chosen),
        "changed": sorted(changed),
        "isEdited": bool(reading.edits),
        "plays": True,
    }
