"""A sentence before small language models: what they foresee at each position, whether it is right, their figures."""

from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from attention_core.data.next_words import UNKNOWN, Line, read_line, vocabulary
from attention_core.data.pieces import strip_space_mark
from attention_core.inference import next_word
from pages.transformer.charts import RowText
from pages.transformer.inputs import draw_sentence
from ui.computed import by_model, card_or_empty, model_or_stop
from ui.layout import figures_table, stop_run
from ui.words import report_unknown_words

foresee, foresee_unseen = by_model(next_word.foresee), by_model(next_word.foresee_unseen)
foresee_word_by_word, write = by_model(next_word.foresee_word_by_word), by_model(next_word.write)
FIGURES = "accuracy_unseen", "accuracy"  # names on the cards
NEW_SENTENCES = "next words of 2,000 new sentences"
MAX_BESIDE = 9  # positions up to which two matrices stand side by side


def draw_line(*models: str) -> Line:
    """Draw the box of the sentence; return it as the models read it, after making sure that they load."""
    text = draw_sentence()
    for model in models:
        model_or_stop(f"next-word-{model}")
    if text is None:
        stop_run()
    line = read_line(text)
    report_unknown_words(line.labels[1:], [number != UNKNOWN for number in line.ids[1:]])
    return line


def foreseen_words(line: Line, probabilities: Tensor) -> list[RowText]:
    """Return the likeliest word after each position, (n, N_WORDS), and whether it comes; a dash after the last."""
    likeliest = probabilities.argmax(-1).tolist()
    typed = {"i": "I"} | {label.lower(): label for label in line.labels[1:]}
    texts = [strip_space_mark(vocabulary()[word]) for word in likeliest]
    words = [
        RowText(typed.get(text, text), None if target == UNKNOWN else word == target)
        for text, word, target in zip(texts, likeliest, line.ids[1:], strict=False)
    ]
    return [*words, RowText("–")]


def two_containers(n: int) -> Sequence[DeltaGenerator]:
    """Return two containers for matrices of n rows, side by side where there is room."""
    return st.columns(2, gap="medium") if n <= MAX_BESIDE else [st.container(), st.container()]


def count_right(words: Sequence[RowText]) -> tuple[int, int]:
    """Return how many words are foreseen rightly, and of how many."""
    judged = [word.is_right for word in words if word.is_right is not None]
    return sum(judged), len(judged)


def mean_weights(foresight: next_word.Foresight) -> Tensor:
    """Return the weights (n, n), the mean of all heads of all layers."""
    weights = [trace.weights(head) for trace in foresight.traces for head in range(trace.n_heads)]
    return sum(weights[1:], weights[0]) / len(weights)


def draw_figures(models: Mapping[str, str]) -> None:
    """Draw how many next words of new sentences models, by their names for people, foresee."""
    figures = {name: card_or_empty(f"next-word-{model}").get("test") for model, name in models.items()}
    rows = [(name, *(f"{shares[each]:.1%}" for each in FIGURES)) for name, shares in figures.items() if shares]
    figures_table((NEW_SENTENCES, "only before", "whole line"), *rows)
