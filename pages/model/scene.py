"""A head over a short text: the sentence, with arcs from the token that asks to those that it looks at."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.view.page import pieces
from attention_core.charts.words import word_weights
from attention_core.device import to_array
from attention_core.explain.heads import is_self_attention
from attention_core.hub.run import ModelRun, patches_of
from pages.model import glance
from ui.chart import note_picture
from ui.component import component
from ui.state import component_message

MAX_KEYS = 24
SCENE = "model_tokens_scene"
CLOSING, OPENING = frozenset(".,;:!?)'’"), frozenset("('’")
_sentence = component("sentence", folder="pages/model")


class SentenceText(NamedTuple):
    """What a visitor may make of the sentence: another text, or one with another last word, None = it has none."""

    text: str
    on_text: Callable[[str], None]
    clicks: int = 0  # how often it was wanted for editing
    rival: str | None = None  # the other last word
    switched: str = ""  # the text with it


def fits_scene(run: ModelRun, trace: AttentionTrace, head: int) -> bool:
    """Return whether a head's attention over a text is drawn as arcs over it: few tokens, and shares of 1."""
    is_short = is_self_attention(trace) and trace.n_keys <= MAX_KEYS and trace.has_softmax
    return is_short and patches_of(run, trace) is None and not run.tiles and not glance.is_off(trace, head)


def draw_sentence(
    trace: AttentionTrace,
    head: int,
    query: int,
    marks: Sequence[int],
    before: list[float] | None,
    sentence: SentenceText | None,
    marks_note: str,
) -> None:
    """Draw the sentence of a head at a query; another one is chosen in it. `before` are its weights in the first text.

    Positions of `marks` are no words, as `marks_note` says; without a SentenceText, it cannot be edited.
    """

    def on_choose() -> None:
        message = component_message(SCENE, "chosen") or {}
        row, text = message.get("row"), message.get("text")
        if sentence and message.get("rival") == sentence.rival and sentence.rival:
            sentence.on_text(sentence.switched)
        elif sentence and isinstance(text, str) and text.strip():
            sentence.on_text(text)
        elif isinstance(row, int) and 0 <= row < trace.n_queries:
            glance.choose(query=row)

    labels, is_joined = zip(*pieces(trace.story.key_axis.labels), strict=True)
    weights = to_array(trace.weights(head).nan_to_num())
    note_picture(partial(word_weights, labels, labels, weights, query, ""), f"“{labels[query]}”, where it looks")
    data = {
        "queries": labels,
        "joined": [
            index
            for index, (before_it, label) in enumerate(pairwise(labels), 1)
            if is_joined[index] or label in CLOSING or before_it in OPENING
        ],
        "muted": list(marks),
        "query": query,
        "weights": weights.round(4).tolist(),
        "before": before and {"row": query, "weights": before},
        "text": sentence.text if sentence else "",
        "rival": sentence and sentence.rival,
        "clicks": sentence.clicks if sentence else 0,
        "note": "Point at a word: where does it look?",
        "marks": marks_note,
    }
    _sentence(key=SCENE, data=data, default={"chosen": None}, on_chosen_change=on_choose)
