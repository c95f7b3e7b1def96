"""The question that Start asks: a soft look-up among the questions of all pages, by spelling, then by meaning."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

import streamlit as st

from ui.component import component
from ui.hosting.bounds import SEARCH_LETTERS
from ui.labels import note
from ui.navigation import PAGES, path_of
from ui.state import Field, component_message, plain_text

if TYPE_CHECKING:
    from attention_core.inference.soft_lookup import Encoder

TEMPERATURE, N_NEAREST = 0.05, 3
MIN_COSINE = 0.45
"""Below which the nearest question is about something else."""
LABEL, EXAMPLE = "What would you like to know about attention?", "why a mask?"
TEXT = Field("start", "search", "")
"""What is asked; no address has it, since the browser's Back would go letter by letter."""
EXPERIMENT_OF = {
    question.text: (entry, question.slug) for entry in reversed(PAGES) for question in reversed(entry.questions)
} | {entry.question: (entry, "") for entry in PAGES if entry.name != "start"}
"""The page and the slug of each question, "" = the page itself; of what several pages ask, those of the first."""
SYNONYMS = {
    "What is attention?": "lookup/",
    "self-attention": "vectors/",
    "What is a context vector?": "vectors/average",
    "What is wrong with an RNN or LSTM?": "memory/",
    "cross-attention": "translate/",
    "Can I translate my own sentence?": "translate/",
    "What is a transformer?": "transformer/",
    "multi-head": "transformer/several",
    "What are heads for?": "transformer/several",
    "positional encoding": "transformer/positions",
    "Does the order of words matter?": "transformer/positions",
    "quadratic complexity, long texts": "transformer/cost",
    "teacher forcing": "transformer/forcing",
    "causal mask, padding mask": "transformer/mask",
    "vision transformer": "pixels/patches",
    "Can I use my own photograph?": "photograph/",
    "image captioning": "ask/tell",
    "word embeddings": "lookup/vector",
    "KV cache": "model/keeps",
    "attention sinks": "model/first",
    "What do GPT, BERT and Llama look at?": "model/",
    "How does ChatGPT write?": "model/words",
    "How is attention trained?": "train/",
    "Is attention an explanation?": "memory/doubts",
}
"""What else people call what a question is about: further keys, whose value is the question of a page and slug."""
HAS_ENCODER = Event()
"""Whether the sentence encoder has been loaded, which takes seconds."""
_box = component("question_box", folder="pages/start")


def draw_search() -> None:
    """Draw the box, and the questions that are nearest to what stands in it; until a letter does, nothing is loaded."""
    data = {"label": LABEL, "example": EXAMPLE, "text": TEXT.value, "max": SEARCH_LETTERS.maximum}
    _box(key="start_search_box", data=data, default={"text": None}, on_text_change=_on_text)
    with st.container(key="start_nearest"):
        nearest = st.empty()
    if not any(map(str.isalnum, TEXT.value)):
        return
    from attention_core.hub.model import ModelError
    from attention_core.inference.soft_lookup import SPELLING
    from ui.meaning import meaning_encoder

    if not HAS_ENCODER.is_set():
        with nearest.container():
            _draw_nearest(SPELLING, "spelling")
    try:
        encoder, comparison = meaning_encoder(), "meaning"
        HAS_ENCODER.set()
    except ModelError:
        encoder, comparison = SPELLING, "spelling"
    with nearest.container():
        _draw_nearest(encoder, comparison)


def _on_text() -> None:
    text = component_message("start_search_box", "text")
    if isinstance(text, str):
        TEXT.value = plain_text(text)[: SEARCH_LETTERS.maximum]


def nearest_questions(text: str, encoder: Encoder) -> list[tuple[str, float, float]]:
    """Return the questions with the largest weights, these, and their largest cosines, by weight."""
    from attention_core.inference.soft_lookup import Records, soft_lookup

    question_of = {f"{entry.name}/{slug}": question for question, (entry, slug) in EXPERIMENT_OF.items()}
    keys = (*EXPERIMENT_OF, *SYNONYMS)
    values = (*EXPERIMENT_OF, *(question_of[address] for address in SYNONYMS.values()))
    trace = soft_lookup(Records(keys, values), [text], TEMPERATURE, encoder)
    found: dict[str, tuple[float, float]] = {}
    for question, weight, score in zip(values, trace.weights()[0].tolist(), trace.scores()[0].tolist(), strict=True):
        sum_before, cosine_before = found.get(question, (0.0, -1.0))
        found[question] = sum_before + weight, max(cosine_before, TEMPERATURE * score)
    return sorted(((question, *numbers) for question, numbers in found.items()), key=lambda row: -row[1])[:N_NEAREST]


def _draw_nearest(encoder: Encoder, comparison: str) -> None:
    from attention_core.attention.wording import percent

    nearest = nearest_questions(TEXT.value, encoder)
    if nearest[0][2] < MIN_COSINE:
        st.caption("None of the questions fits well. The nearest, whose weights sum to 100% all the same:")
    for question, weight, _ in nearest:
        entry, slug = EXPERIMENT_OF[question]
        bar, link = st.columns([1, 3.4], vertical_alignment="center")
        bar.html(f'<div class="weight"><i style="--share:{weight}"></i>{percent(weight)}</div>')
        label = f"**{question}** {entry.title}"
        link.page_link(path_of(entry), label=label, query_params={"question": slug} if slug else None)
    note(
        f"Found by attention: a soft look-up among {len(EXPERIMENT_OF) + len(SYNONYMS)} names of {len(EXPERIMENT_OF)} "
        f"questions, by {comparison}, at temperature {TEMPERATURE}. *Look up softly* explains it."
    )
