"""A box for a sentence, and words that can be clicked: above their translation with arcs, or as bars of next tokens.

The box is kept over page changes and in the address as ?text=. The words are components rather than charts: they keep
their type and wrap as text does, and hovering needs no server.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import streamlit as st

from attention_core.attention.types import Role
from attention_core.charts.bars import bar_table, bars
from attention_core.charts.ramps import ROLE_COLOURS
from attention_core.charts.words import word_weights
from attention_core.data.pieces import MAX_WORDS, SPACE, english_words, strip_space_mark
from attention_core.device import to_array
from attention_core.inference.translation import END_LABEL, SourceSentence, WordView
from ui.chart import note_picture
from ui.component import component
from ui.hosting.bounds import SENTENCE_LETTERS
from ui.labels import literal
from ui.layout import grey_out
from ui.state import Field, component_message, plain_text
from ui.try_this import TRY_STAGE

EMPTY = "Type an English sentence, or take one of the examples."


def sentence_box(
    name: str,
    examples: Mapping[str, str],
    *,
    max_words: int = MAX_WORDS,
    label: str = "An English sentence",
    on_change: Callable[[], None] | None = None,
) -> str | None:
    """Let a person type a sentence, and return it cut after max_words words; None when there is nothing to read.

    The examples are sentences by the labels of their buttons; the first one is there on arrival. on_change is called
    when another text was typed or chosen, before the page runs again. Remarks are drawn below the box.
    """
    sentence_field = text_field(name)

    def on_changed() -> None:
        TRY_STAGE[name].reset()  # the outcome of a guess was about another sentence
        if on_change is not None:
            on_change()

    def on_example(sentence: str) -> None:
        sentence_field.value = sentence
        on_changed()

    sentence_field.suggest(next(iter(examples.values())))
    options = {"max_chars": SENTENCE_LETTERS.maximum, "help": f"Up to {max_words} words."}
    sentence_field.widget(st.text_input, label, on_change=on_changed, **options)
    with st.container(horizontal=True, gap="xsmall", key=f"{name}_examples"):
        for number, (short, sentence) in enumerate(examples.items()):
            st.button(short, key=f"{name}_example_{number}", on_click=on_example, args=(sentence,))
    if not english_words(sentence_field.value):
        st.info(EMPTY)
        return None
    return cut_sentence(sentence_field.value, max_words)


def cut_sentence(text: str, max_words: int = MAX_WORDS) -> str:
    """Return a sentence without what comes after max_words words, and say so where something does."""
    words = english_words(text)
    if len(words) <= max_words:
        return text.strip()
    last = literal(strip_space_mark(words[max_words - 1]))
    st.info(f"The first {max_words} of {len(words):,} words are read, up to {last}. The rest stays in the box.")
    return "".join(words[:max_words]).replace(SPACE, " ").strip()


def readable_sentence(name: str, text: str | None, first: str, *answer_keys: str) -> str:
    """Return a page's text from sentence_box; where it is None the last one, or the first.

    Then the containers of these keys, which answer the last one, are greyed out.
    """
    last = _last_sentence(name)
    last.value = text or last.value or first
    for key in answer_keys:
        grey_out(key, text is None)
    return last.value


@cache
def _last_sentence(name: str) -> Field[str]:
    return Field(name, "last_text", "")


def report_unknown_words(words: Sequence[str], in_vocabulary: Sequence[bool]) -> bool:
    """Say how many words of a sentence the model does not know, if any; return whether it knows half of them."""
    n_words = sum(map(_is_word, words))
    unknown = [word for word, is_known in zip(words, in_vocabulary, strict=True) if not is_known and _is_word(word)]
    n_known = n_words - len(unknown)
    if unknown:
        names = ", ".join(literal(word, 24) for word in unknown[:4]) + (" …" if len(unknown) > 4 else "")
        hint = "" if n_known else " Other words it sees in pieces, if at all."
        write = st.caption if n_known > n_words / 2 else st.info
        count = f"{len(unknown)} of {n_words} word{'s' * (n_words > 1)}"
        write(f"Unknown to the model: {names} ({count}). It knows common English alone.{hint}")
    return n_known > 0 and n_known >= n_words / 2


def _is_word(text: str) -> bool:
    return any(map(str.isalnum, text))


def reading_remarks(source: SourceSentence) -> None:
    """Say what of a sentence a translator reads in pieces, does not know, or does not read."""
    remarks, split_words = [], source.split_words
    if source.n_dropped:
        last = literal(source.words[-1], 20)
        remarks.append(f"Rare words take many pieces: the reading ends after {last}, {source.n_dropped} words early.")
    if split_words:
        pairs = ((literal(word, 24), literal(" · ".join(labels), 60)) for word, labels in split_words[:4])
        remainder = f" and {len(split_words) - 4} more" if len(split_words) > 4 else ""
        remarks.append(f"Read in pieces: {', '.join(map(' = '.join, pairs))}{remainder}.")
    if source.unknown_words:
        names = ", ".join(literal(word, 24) for word in source.unknown_words[:4])
        remarks.append(f"Not in the vocabulary: {names}, signs that the models never saw and cannot tell apart.")
    if remarks:
        st.caption("  \n".join(remarks))
    if 2 * source.in_vocabulary.count(False) >= len(source.in_vocabulary):
        report_unknown_words(source.words, source.in_vocabulary)


@cache
def text_field(name: str) -> Field[str]:
    """Return the field of the sentence that is typed on a page."""
    return Field(name, "text", "", address="text", parse=lambda text: plain_text(text)[: SENTENCE_LETTERS.maximum])


_aligned_words = component("aligned_words")
_token_bars = component("next_words")


def chosen_row(name: str) -> int | None:
    """Return the target word that was clicked last, a row of the weights; None before any was."""
    row = (component_message(f"{name}_words", "chosen") or {}).get("row")
    return row if isinstance(row, int) else None


def chosen_arc(name: str) -> tuple[int, float | None] | None:
    """Return the source word whose arc was changed last, and its new weight, None = cut; None if it was no arc."""
    message = component_message(f"{name}_words", "chosen") or {}
    source_word, weight = message.get("cut"), message.get("weight")
    is_weight = weight is None or (isinstance(weight, int | float) and 0 <= weight <= 1)
    return (source_word, weight) if isinstance(source_word, int) and is_weight else None


def aligned_words(
    name: str,
    view: WordView,
    *,
    model: str,
    active: int | None,
    on_choose: Callable[[], None],
    plain: bool = False,
    axes: tuple[str, str] | None = None,
    cuts: bool = False,
) -> None:
    """Draw source words above target words, with arcs between them.

    Args:
        name: begins the key of the component.
        view: the words and weights.
        model: what people call the model.
        active: the target word whose arcs are strong, from 0; None = all are alike.
        on_choose: called after a click on a target word, see chosen_row, and after a change of an arc, see chosen_arc.
        plain: whether target words are not said one after the other, and have no probabilities.
        axes: names of the axes of the trace that the page steps through, so that what is pointed at in one view of it
            is lit in all; None = the words are those of another trace.
        cuts: whether arcs of the active word can be changed.
    """
    row = -1 if active is None else min(active, len(view.target) - 1)
    title = model if active is None else f"{model}: where “{view.target[row]}” looks"
    note_picture(partial(word_weights, view.source, view.target, to_array(view.weights), row, ""), title)
    data = word_data(view, model) | {"active": row, "note": "", "plain": plain, "cuts": cuts, "axes": axes}
    data |= {"single": "", "forced": 0}
    _aligned_words(key=f"{name}_words", data=data, default={"chosen": None}, on_chosen_change=on_choose)


def word_data(view: WordView, model: str) -> dict[str, Any]:
    """Return what the browser draws of words and weights."""
    return {
        "name": model,
        "source": view.source,
        "target": view.target,
        "weights": [[round(weight, 4) for weight in row] for row in view.weights.tolist()],
        "probabilities": [None if math.isnan(share) else round(share, 4) for share in view.probabilities],
        "firsts": [view.first_piece, view.first_key],
        "uniform": 1 / len(view.keys),
    }


def chosen_token(name: str) -> tuple[int, list[int]] | None:
    """Return the id of the token that was clicked last and its basis, see token_bars; None before any was."""
    chosen = component_message(f"{name}_choice", "chosen")
    if not chosen:
        return None
    return int(chosen["piece"]), [*map(int, chosen["after"])]


def token_bars(
    name: str,
    tokens: Sequence[tuple[int, str, float]],
    basis: Sequence[int],
    chosen: int | None,
    on_choose: Callable[[], None],
    language: str = "en",
) -> None:
    """Draw a bar that is a button for the id, text and probability of each token, best first; mark the chosen one.

    After a click, chosen_token returns the token and the basis: numbers that tell these bars from those of before.
    """
    _, texts, shares = zip(*tokens, strict=True)
    drawing = partial(bar_table, texts, {"probability": shares}, [ROLE_COLOURS[Role.OUTPUT]])
    note_picture(drawing, "The likeliest next words")
    rows = [{"piece": token, "text": text, "share": share} for token, text, share in tokens]
    _draw_bars(name, on_choose, words=rows, said=chosen, after=list(basis), lang=language)


def number_bars(
    name: str,
    names: Sequence[str],
    values: Sequence[float],
    colour: str,
    title: str,
    action: str,
    on_choose: Callable[[int], object],
    chosen: int | None = None,
) -> None:
    """Draw a bar that is a button for each number, to the left of 0 where it is below; mark the chosen one.

    The label says the action of a click; on_choose gets the index of the bar.
    """
    low = min(0.0, *values)
    span = max(0.0, *values) - low or 1.0
    note_picture(partial(bars, values, names, title=title, colour=colour, height=28 * len(names) + 40), title)

    def on_chosen() -> None:
        message = component_message(f"{name}_choice", "chosen") or {}
        if message.get("after") == names and (bar := int(message["piece"])) in range(len(names)):
            on_choose(bar)  # else the message is from the bars of before

    rows = [
        {"piece": bar, "text": text, "share": abs(value) / span, "from": (min(0, value) - low) / span, "value": value}
        for bar, (text, value) in enumerate(zip(names, values, strict=True))
    ]
    style, label = (
        {"--output": colour, "--room": "min(55%, 16rem)", "--most": "none"},
        f"{title}; click one to {action}",
    )
    _draw_bars(name, on_chosen, words=rows, said=chosen, after=names, about=label, look=style)


def _draw_bars(name: str, on_choose: Callable[[], None], **data: Any) -> None:
    _token_bars(key=f"{name}_choice", data=data, default={"chosen": None}, on_chosen_change=on_choose)


def piece_label(text: str, after_apostrophe: bool = False) -> str:
    """Return a piece for people: what begins a word as it is, what continues one with a hyphen before it.

    After an apostrophe (l', qu') words follow without a space; a piece that brings one is marked.
    """
    if text.startswith(SPACE):
        return ("␣" if after_apostrophe or text == SPACE else "") + text.removeprefix(SPACE)
    return text if text == END_LABEL or after_apostrophe or not text[:1].isalpha() else f"-{text}"
