"""Whether "Apple" is a fruit or a firm: the word's vector, read forwards and both ways, and to whose it is nearest."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st
import torch
from torch import Tensor

from attention_core.data.language_pieces import NAME as CAUSAL
from attention_core.hub.catalogue import PACKAGE, find_local
from attention_core.hub.model import ModelKind
from attention_core.hub.run import TextInput, run
from attention_core.inference.pretrained import prepare
from attention_core.inference.translation import read_source
from attention_core.inference.word_influence import read_bidirectionally
from pages.memory import first_screen as screen
from pages.memory.charts import leanings_chart
from ui.chart import draw_chart
from ui.computed import cached_computation, model_or_stop
from ui.labels import error_markdown, note
from ui.layout import figures_table
from ui.model_runs import pretrained_of

WORD = re.compile(r"\bapple\b", re.IGNORECASE)
TOO_FAR = "The word Apple stands too far behind to be read."
FORWARDS, BIDIRECTIONAL = "GRU, forwards", "GRU, both ways"
LLAMA, MINILM = "Llama, forwards", "MiniLM, both ways"
MODELS = {LLAMA: CAUSAL, MINILM: PACKAGE}
REFERENCES = {
    "fruit": """She cut the apple into slices.
He picked a ripe apple from the tree.
The child ate a red apple.
With her knife she peeled an apple.
Apple sauce tastes sweet.
Apple and pear are ripe in autumn.""",
    "firm": """The shares of Apple fell again.
He is an engineer at Apple in California.
The new phone was made by Apple.
The software was written by Apple.
Apple sells computers.
Apple and Microsoft are rivals.""",
}
HELD_OUT = {
    ("fruit", "before"): """For dessert we had a baked apple.
In the garden there is an old apple tree.
The horse wants to eat another apple.
My mother peeled the pears and the apple.
With her teeth she bit into the apple.
In the basket lay a green apple.""",
    ("firm", "before"): """The court fined the technology giant Apple.
Her laptop is a computer from Apple.
The price of the shares fell at Apple.
After university he got a job at Apple.
Its rival Microsoft is richer than Apple.
The manager signed the contract with Apple.""",
    ("fruit", "after"): """Apple pie with cream is delicious.
Apple juice is good for children.
Apple trees bloom in spring.
Apple peel and seeds went into the bin.
Apple cake was eaten at the party.
Apple slices lay on her plate.""",
    ("firm", "after"): """Apple announced a new telephone.
Apple hired two hundred engineers.
Apple paid its shareholders more money.
Apple lost the case in court.
Apple builds laptops in China.
Apple is a company from California.""",
}
"""Sentences that are not among the references, by what the word means and where the clue stands."""


N_OF_CLUE = sum(len(sentences.splitlines()) for (_, clue), sentences in HELD_OUT.items() if clue == "before")


class Leaning(NamedTuple):
    """Where a vector lies on the line from the fruit to the firm, -1 to 1: above 0 it is nearer to the firm."""

    sense: str  # "yours" = nobody has told
    clue: str  # "before" or "after" the word, or "yours"
    sentence: str
    value: float

    @property
    def is_right(self) -> bool:
        """Whether it leans to what the word means."""
        return (self.value > 0) == (self.sense == "firm")


def leanings_of(sentences: Sequence[str]) -> dict[str, list[Leaning]]:
    """Return by reading how the word leans in sentences, and then in the held-out ones; {} where they lack it."""
    if not all(map(WORD.search, sentences)):
        return {}
    model_or_stop(screen.WITHOUT)
    readings = [FORWARDS, LLAMA, BIDIRECTIONAL, *([MINILM] if find_local(PACKAGE) else [])]
    for name in MODELS.keys() & {*readings}:
        pretrained_of(MODELS[name])  # before its turn to compute
    try:
        return {
            reading: [
                *(Leaning("yours", "yours", text, _leaning_of(reading, text)) for text in sentences),
                *_held_out(reading),
            ]
            for reading in readings
        }
    except ValueError as error:
        st.info(error_markdown(error))
        return {}


def describe_leanings(leanings: dict[str, list[Leaning]]) -> str:
    """Say what the word in each of two sentences is nearest to, read both ways and forwards."""
    bidirectional, causal = list(leanings)[-1], LLAMA
    return (
        f"*Apple* is {_senses(leanings[bidirectional])} for {bidirectional}, {_senses(leanings[causal])} for {causal}."
    )


def _senses(leanings: list[Leaning]) -> str:
    first, second = ("firm" if leaning.value > 0 else "fruit" for leaning in leanings[:2])
    return f"a {first} both times" if first == second else f"a {first}, then a {second}"


def draw_leanings(leanings: dict[str, list[Leaning]]) -> None:
    """Draw where the word of each sentence leans, and how many of the held-out ones are right."""
    dots = [(reading, dot) for reading, numbers in leanings.items() for dot in numbers]
    columns: dict[str, list] = {
        "reading": [reading for reading, _ in dots],
        "leaning": [dot.value for _, dot in dots],
        "sense": [dot.sense for _, dot in dots],
        "clue": [dot.clue for _, dot in dots],
        "sentence": [dot.sentence for _, dot in dots],
    }
    left, right = st.columns([1.5, 1], gap="large")
    with left:
        alt = "Apple, from fruit to firm"
        draw_chart(leanings_chart(columns, list(leanings)), key="memory_apple", alt=alt)
    rows = [
        (reading, *(str(_n_right(numbers, clue)) for clue in ("before", "after")))
        for reading, numbers in leanings.items()
    ]
    with right:
        figures_table((f"right of {N_OF_CLUE}, clue", "before ●", "after ▲"), *rows)
        note("Each mark is *Apple* in a new sentence, from six fruits to six firms. The GRU knows little of firms.")


def _n_right(leanings: list[Leaning], clue: str) -> int:
    return sum(leaning.is_right for leaning in leanings if leaning.clue == clue)


def _held_out(reading: str) -> list[Leaning]:
    return [
        Leaning(sense, clue, sentence, _leaning_of(reading, sentence))
        for (sense, clue), sentences in HELD_OUT.items()
        for sentence in sentences.splitlines()
    ]


def _leaning_of(reading: str, sentence: str) -> float:
    """Return the cosine of the word with the line from the fruit to the firm."""
    line, middle = _line(reading)
    return float(torch.cosine_similarity(_vector(reading, sentence) - middle, line, 0))


@cached_computation()
def _line(reading: str) -> tuple[Tensor, Tensor]:
    """Return the line from what the word is as a fruit, in the mean, to what it is as a firm; and its middle."""
    fruit, firm = (
        torch.stack([_vector(reading, sentence) for sentence in sentences.splitlines()]).mean(0)
        for sentences in REFERENCES.values()
    )
    return firm - fruit, (fruit + firm) / 2


@cached_computation()
def _vector(reading: str, sentence: str) -> Tensor:
    """Return the word's vector; ValueError where it is cut off."""
    text = WORD.sub("apple", sentence)
    return (
        _recurrent_vector(reading, text) if reading in (FORWARDS, BIDIRECTIONAL) else _vector_of_tokens(reading, text)
    )


def _recurrent_vector(reading: str, text: str) -> Tensor:
    source = read_source(text)
    words = [n for n, label in enumerate(source.words) if WORD.search(label)]
    if not words:
        raise ValueError(TOO_FAR)
    pieces = [n for n, of_word in enumerate(source.word_of) if of_word == words[0]]
    passes = read_bidirectionally(model_or_stop(screen.WITHOUT), source.ids)
    forwards, backwards = passes["forward"].states[pieces[-1]], passes["backward"].states[pieces[0]]
    return forwards if reading == FORWARDS else torch.cat((forwards, backwards))


def _vector_of_tokens(reading: str, text: str) -> Tensor:
    """Return the last state of the word's last token, which has read it whole, or the mean of all of them."""
    pretrained = pretrained_of(MODELS[reading])
    of_text = run(pretrained, prepare(pretrained, TextInput(text)))
    tokens = _tokens_of_word([token.strip().lower() for token in of_text.tokens])
    if of_text.hidden is None:
        raise ValueError(f"{reading} hands out no vectors.")
    states = of_text.hidden[tokens].float()
    return states[-1] if pretrained.kind is ModelKind.DECODER else states.mean(0)


def _tokens_of_word(tokens: list[str]) -> list[int]:
    for first in range(len(tokens)):
        for n in range(1, len("apple") + 1):
            if "".join(tokens[first : first + n]) == "apple":
                return list(range(first, first + n))
    raise ValueError(TOO_FAR)
