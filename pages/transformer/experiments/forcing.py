"""Why does it need no mask when it says one word at a time? At once with the mask, and one after the other without."""

from typing import NamedTuple

import numpy as np
import streamlit as st
from torch import Tensor

from attention_core.bounds.harmless import as_markdown
from attention_core.data.next_words import Line
from attention_core.device import to_array
from attention_core.inference.next_word import Foresight, named_mask
from pages.transformer import next_words
from pages.transformer.charts import RowText, mask_chart
from pages.transformer.reading import NAME
from ui.chart import draw_chart
from ui.labels import paragraph
from ui.state import Field, whole_number

MODEL = "next-word-causal"
N_READ = Field(NAME, "words_read", 2, address="read", parse=whole_number)


class Passes(NamedTuple):
    """A line that is read at once, and as far as n positions one after the other."""

    line: Line
    n: int
    at_once: Foresight
    word_by_word: Tensor  # (n_positions, N_WORDS)


def draw_input() -> Passes:
    """Draw the sentence, and how many of its words are read."""
    line = next_words.draw_line("causal")
    last = len(line.ids) - 1
    N_READ.clamp(0, last)
    n = N_READ.widget(st.slider, "Words read so far", 0, last) if last else 0
    return Passes(line, n + 1, next_words.foresee(MODEL, line), next_words.foresee_word_by_word(MODEL, line))


def answer(passes: Passes) -> str:
    """Say how far both ways differ."""
    difference = float((passes.at_once.probabilities - passes.word_by_word).abs().max())
    return f"What comes later does not exist yet: both ways of reading differ by {difference:.0e} at most."


def draw(passes: Passes) -> None:
    """Draw the rows that are read so far, what both ways foresee, and what the model is given instead."""
    line, n = passes.line, passes.n
    weights = to_array(next_words.mean_weights(passes.at_once))
    weights[n:] = weights[:, n:] = np.nan
    unread = [RowText("")] * (len(line.ids) - n)
    at_once = next_words.foreseen_words(line, passes.at_once.probabilities)
    word_by_word = next_words.foreseen_words(line, passes.word_by_word)
    next_labels = [RowText(label) for label in line.labels[1:]] + [RowText("")]
    columns = {"all at once": at_once, "one by one": word_by_word[:n] + unread, "given next": next_labels[:n] + unread}
    mask = to_array(named_mask("causal", len(line.ids)))
    alt = "Rows read so far"
    draw_chart(mask_chart(line.labels, mask, weights, columns), width="content", alt=alt, key="transformer_forcing")
    beginning = line._replace(ids=line.ids[:n], labels=line.labels[:n])
    written = as_markdown(next_words.write(MODEL, beginning))
    paragraph(
        "**Teacher forcing**: in training each row is given the right words, so one pass trains all. Given its own, it "
        f"writes: *{written}*"
    )
