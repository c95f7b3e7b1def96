"""A box for a sentence, with examples beside it; kept over page changes and in the address as ?text=."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import streamlit as st

from attention_core.bounds import SENTENCE_LETTERS
from attention_core.data.pieces import MOST_WORDS, SPACE, bare, english_words
from ui.labels import literal
from ui.state import Field, plain_text

EMPTY = "Type an English sentence, or take one of the examples."


def sentence_box(
    name: str,
    presets: Mapping[str, str] | Sequence[str],
    *,
    most_words: int = MOST_WORDS,
    label: str = "An English sentence",
    height: int = 84,
    on_change: Callable[[], None] | None = None,
) -> str | None:
    """Let a person type a sentence; remarks on it are drawn below the box.

    Args:
        name: of the page.
        presets: examples, the first one is there on arrival; label of a button -> sentence, or sentences alone.
        most_words: words that are read; the rest stays in the box.
        label: above the box.
        height: of the box, in pixels.
        on_change: called when another text was typed or chosen, before the page runs again.

    Returns:
        the text, cut after most_words words; None when there is nothing to read.
    """
    examples = dict(presets) if isinstance(presets, Mapping) else {sentence: sentence for sentence in presets}
    typed = text_field(name)
    typed.offer(next(iter(examples.values()), ""))
    typed.widget(
        st.text_area,
        label,
        height=height,
        max_chars=SENTENCE_LETTERS.most,
        on_change=on_change,
        help=f"English; up to {most_words} words are read. Ctrl + Enter, or a click elsewhere, takes what you typed.",
    )
    if examples:
        with st.container(horizontal=True, gap="xsmall", key=f"{name}_examples"):
            for place, (short, sentence) in enumerate(examples.items()):
                st.button(
                    short,
                    key=f"{name}_example_{place}",
                    on_click=_take,
                    args=(typed, sentence, on_change),
                    help=None if short == sentence else literal(sentence),
                )
    text = typed.value
    words = english_words(text)
    if not words:
        st.info(EMPTY)
        return None
    if len(words) <= most_words:
        return text.strip()
    st.info(
        f"The first {most_words} of {len(words):,} words are read, up to {literal(bare(words[most_words - 1]))}. "
        "The rest stays in the box."
    )
    return "".join(words[:most_words]).replace(SPACE, " ").strip()


def knows_enough(words: Sequence[str], known: Sequence[bool]) -> bool:
    """Say how many words of a sentence the model does not know, if any; return whether it knows half of them."""
    is_known = [known for word, known in zip(words, known, strict=True) if any(map(str.isalnum, word))]
    n_known, n = sum(is_known), len(is_known)
    if n_known < n:
        guess = "" if n_known else " Of other words it sees only letters."
        tell = st.caption if n_known > n / 2 else st.info
        tell(f"Unknown to the model: {n - n_known} of {n} word{'s' * (n > 1)}. It knows English alone.{guess}")
    return n_known > 0 and n_known >= n / 2


@cache
def text_field(name: str) -> Field[str]:
    """Return what is typed on a page."""
    return Field(
        name,
        "text",
        "",
        address="text",
        parse=lambda asked: plain_text(asked)[: SENTENCE_LETTERS.most],
    )


def _take(typed: Field[str], sentence: str, on_change: Callable[[], None] | None) -> None:
    typed.value = sentence
    if on_change is not None:
        on_change()
