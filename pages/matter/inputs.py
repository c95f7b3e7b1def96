"""What one changes on the page and in its experiments: the sentence, and the weights of its words."""

import html
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import streamlit as st
from torch import Tensor

from attention_core import AttentionTrace, Role
from attention_core.attention.edits import Edits
from attention_core.bounds.harmless import IN_SENTENCES, as_markdown
from attention_core.charts.bars import bar_table
from attention_core.charts.ramps import GREY, ROLE_COLOURS
from attention_core.data.sentence_presets import PRESETS
from attention_core.inference import sentiment as core
from ui.chart import note_picture
from ui.computed import by_model, card_or_empty
from ui.edits import EditList
from ui.labels import note
from ui.layout import bar_rows
from ui.player import Stepper, export_bar
from ui.take_along import take_along
from ui.words import readable_sentence, report_unknown_words, sentence_box

NAME = "matter"
STEPS = Stepper(NAME)
ATTENTION, AVERAGE, TWO_PHASES = "sentence-attention", "sentence-mean", "sentence-two-phase"
SMALL_CHANGE = 0.02  # of the probability "positive", which is called none
EDITS = EditList(NAME)

_judge, _remove_each, _explain = by_model(core.judge), by_model(core.remove_each), by_model(core.explain)


class Judgement(NamedTuple):
    """A sentence, and how it is judged."""

    text: str
    sentence: core.Sentence
    trace: AttentionTrace  # with the edits that fit
    is_read: bool  # whether enough of its words are known to be judged

    @property
    def edits(self) -> Edits:
        return self.trace.edits

    def verdict(self, name: str = ATTENTION) -> core.Verdict:
        """Return a model's verdict on the sentence, with the edits."""
        return verdict_of(name, self.text, self.edits)

    def learned_verdict(self) -> core.Verdict:
        """Return the verdict without the edits."""
        return verdict_of(ATTENTION, self.text)


def draw_sentence() -> Judgement:
    """Draw the box of the sentence; return how it is judged."""
    entry = sentence_box(NAME, PRESETS, max_words=core.MAX_WORDS, label="A sentence about a film")
    text = readable_sentence(NAME, entry, next(iter(PRESETS.values())), "matter_scene")
    sentence = core.read_sentence(text)
    is_read = report_unknown_words(sentence.words, sentence.in_vocabulary)
    trace = attention_trace(text, EDITS.fitting(attention_trace(text), input_id=text))
    take_along(lambda: export_bar(trace, NAME, query=0))
    return Judgement(text, sentence, trace, is_read)


def draw_input() -> Judgement:
    """Draw the box of the sentence on the screen of an experiment; return how it is judged."""
    with st.container(key="experiment_input"):
        return draw_sentence()


def verdict_of(name: str, text: str, edits: Edits = ()) -> core.Verdict:
    """Return a model's verdict on a sentence."""
    return _judge(name, core.read_sentence(text), edits)


def removal_effects(text: str) -> Tensor:
    """Return by how much the learned model's probability of "positive" changes without each word, (n_words,)."""
    return _remove_each(ATTENTION, core.read_sentence(text))


def attention_trace(text: str, edits: Edits = ()) -> AttentionTrace:
    return _explain(ATTENTION, core.read_sentence(text), edits)


def trace_without(sentence: core.Sentence, index: int) -> AttentionTrace:
    """Return the trace of a sentence without one of its words."""
    return _explain(ATTENTION, core.sentence_of(sentence.words[:index] + sentence.words[index + 1 :]), ())


def accuracy_of(name: str) -> float:
    """Return the share of the sentences for development that a model judges right."""
    return card_or_empty(name).get("development_accuracy", 0)


def describe_verdicts(judgement: Judgement, names: Iterable[str]) -> str:
    """Say what networks say of the sentence."""
    if not judgement.is_read:
        return "neither knows enough words"
    verdicts = " and ".join(dict.fromkeys(f"*{judgement.verdict(name).label}*" for name in names))
    return f"of “{as_markdown(judgement.text, IN_SENTENCES)}” both say {verdicts}"


def draw_bars(title: str, bars: Sequence[tuple[str, float, str]]) -> None:
    """Draw shares below each other, each with its name and its colour."""
    names, shares, colours = zip(*bars, strict=True)
    st.subheader(title, anchor=False)
    note_picture(lambda: bar_table(names, {"share": shares}, colours[:1]), f"{title}: {', '.join(names)}")
    st.html(f'<div role="group" aria-label="{html.escape(title)}">{bar_rows(bars)}</div>')


def draw_networks(judgement: Judgement, called: dict[str, str], *below: tuple[str, float, str]) -> None:
    """Draw how many sentences each network judges right; `called` names them, further bars stand below."""
    # as they are written, so that equal numbers have equal bars
    accuracies, colours = [round(accuracy_of(name), 2) for name in called], (ROLE_COLOURS[Role.WEIGHTS], GREY)
    draw_bars("Right on 925 sentences", [*zip(called.values(), accuracies, colours, strict=True), *below])
    changed = " Your weights are in what they say, not in the bars." if judgement.edits else ""
    note(f"No network learned from these, but its settings were chosen by them.{changed}")
