"""Why does everybody look at the first token? What each head gets there, and what becomes of the answer without it."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean
from typing import NamedTuple

import streamlit as st

from attention_core.attention.edits import BlockKeys, DropHead, Edit
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.attention.wording import percent
from attention_core.charts.bars import bars
from attention_core.charts.ramps import ROLE_COLOURS
from attention_core.device import to_array
from attention_core.explain.heads import divergence, norm_based_weights
from attention_core.hub.model import Pretrained
from attention_core.hub.outputs import expected
from attention_core.hub.run import ModelInputs, ModelRun, TextInput, run
from attention_core.inference.pretrained import prepare
from pages.model.glance import short_name
from pages.model.heads import corpus, is_large
from pages.model.runs import Need, Runs, draw_model
from ui.chart import draw_chart
from ui.job_queue import queued_result, result_on_demand
from ui.labels import distinct, literal, note
from ui.layout import figures_table, section
from ui.model_runs import RunRequest, pretrained_of, run_of

N_SENTENCES, MIN_TOKENS, MAX_BARS = 24, 4, 16
EVEN = 0.5  # of the others' length: a value from there on is no short one
Head = tuple[int, int]  # layer and head, from 0


class FirstToken(NamedTuple):
    """What a head gets from the first token, in means over a text."""

    weight: float  # of all later queries
    length: float  # of its value; the others' mean is 1
    context: float  # its length; the mean value's is 1

    @staticmethod
    def of(trace: AttentionTrace, head: int) -> "FirstToken":
        """Return it of one head."""
        lengths = trace.value_of(head).float().norm(dim=-1)
        mean_length = lengths[1:].mean().clamp_min(1e-9)
        context = trace.context(head).float().norm(dim=-1)[1:].mean()
        weight = trace.weights(head)[1:, 0].mean()
        return FirstToken(*map(float, (weight, lengths[0] / mean_length, context / mean_length)))


class Sink(NamedTuple):
    """A run, its head that looks most at the first token, and the same of another layer."""

    runs: Runs
    layers: Sequence[AttentionTrace]
    heads: tuple[Head, ...]

    def of(self, head: Head) -> FirstToken:
        """Return what a head gets from the first token."""
        return FirstToken.of(self.layers[head[0]], head[1])


def draw_input() -> Sink:
    """Draw the choice of a model and its text."""
    runs = draw_model(Need.FORWARDS)
    layers = next(iter(runs.run.groups.values()))
    if len(runs.run.tokens) < MIN_TOKENS:
        return Sink(runs, layers, ())
    weights = {
        (number, head): float(trace.weights(head)[1:, 0].mean())
        for number, trace in enumerate(layers)
        for head in range(trace.n_heads)
    }
    ranked = sorted(weights, key=weights.__getitem__, reverse=True)
    other_layers = [head for head in ranked if head[0] != ranked[0][0]]
    return Sink(runs, layers, (ranked[0], *other_layers[:1]))


def answer(sink: Sink) -> str:
    """Say how much weight it gets, and how short its value is."""
    if not sink.heads:
        return "Type some more words: in a text this short there is nothing else to look at."
    first = sink.of(sink.heads[0])
    label, share = literal(sink.runs.run.tokens[0].strip()), percent(first.weight)
    if first.length >= EVEN:
        return (
            f"Here to take something: {label} gets {share}, and its value is {percent(first.length)} as long as others."
        )
    return (
        f"To take almost nothing: {short_name(*sink.heads[0])} gives {label} {share} of its weight, and that value is "
        f"{1 / first.length:.1f} times shorter than the others."
    )


def draw(sink: Sink) -> None:
    """Draw what each token gets and hands over, and what becomes of the next token, of one's own text and of others."""
    if not sink.heads:
        return
    _draw_tokens(sink.runs.run, sink.layers[sink.heads[0][0]], sink.heads[0][1])
    left, right = st.columns([1.1, 1.5], gap="large")
    with left:
        _draw_next_token(sink)
    with right:
        _draw_figures(sink)


def _draw_tokens(of_text: ModelRun, trace: AttentionTrace, head: int) -> None:
    labels = distinct([label.strip() or "·" for label in of_text.tokens])[:MAX_BARS]
    weights, sums = trace.weights(head)[1:], norm_based_weights(trace, head)[1:].sum(0)
    lengths = trace.value_of(head).float().norm(dim=-1)
    columns = {
        "Looked at: mean weight": (weights.mean(0), Role.WEIGHTS),
        "Length of its value": (lengths, Role.VALUE),
        "Handed over: weight × length": (sums / len(weights), Role.CONTEXT),
    }
    for column, (title, (numbers, role)) in zip(st.columns(3, gap="medium"), columns.items(), strict=True):
        with column:
            section(title, role)
            chart = bars(
                to_array(numbers)[:MAX_BARS].tolist(),
                labels,
                title="",
                colour=ROLE_COLOURS[role],
                height=24 * len(labels) + 30,
            )
            draw_chart(chart, key=f"model_first_{role}", alt=f"{title}, for each token")
    if len(of_text.tokens) > MAX_BARS:
        note(f"The first {MAX_BARS} of {len(of_text.tokens)} tokens.")


def _draw_next_token(sink: Sink) -> None:
    """Draw what is expected after the text: as learned, without the head, and where it may not look there."""
    request = sink.runs.model_request
    tokenizer, rows = pretrained_of(request.model_key).tokenizer, []
    for name, edit in {"as learned": None, **_changes(sink.heads[0][1])}.items():
        changed = _run_with(request, sink.heads[0], edit)
        if changed.logits is not None:
            likeliest = expected(changed.logits[-1], tokenizer, n=3).likeliest
            rows.append((name, *(f"{token.text.strip('␣')} {percent(token.probability)}" for token in likeliest)))
    layer, head = sink.heads[0]
    share = percent(float(sink.layers[layer].weights(head)[-1, 0]))
    figures_table((short_name(layer, head).capitalize(), "next", "", ""), *rows)
    note(f"The last token gives the first {share}: where this head finds something, it looks there.")


def _changes(head: int) -> dict[str, Edit]:
    return {
        "switched off": DropHead(head=head, query=None),
        "not at the first": BlockKeys(head=head, keys=(0,)),
    }


def _run_with(request: RunRequest, head: Head, edit: Edit | None) -> ModelRun:
    return run_of(*request, {head[0]: (edit,)} if edit else None)


def _draw_figures(sink: Sink) -> None:
    """Draw what both heads get from the first token, and how far the expectation moves, over other sentences."""
    pretrained, heads = pretrained_of(sink.runs.model_request.model_key), sink.heads

    def portions() -> Iterator[tuple[float, Mapping[Head, list[float]]]]:
        texts = corpus()[:N_SENTENCES]
        rows: dict[Head, list[list[float]]] = {head: [] for head in heads}
        for n, text in enumerate(texts, 1):
            for head, numbers in rows.items():
                numbers.append(_figures_of(pretrained, prepare(pretrained, TextInput(text)), head))
            yield n / len(texts), {head: [*map(mean, zip(*numbers, strict=True))] for head, numbers in rows.items()}

    key = "first token", pretrained.name, heads
    if is_large(pretrained):
        figures = result_on_demand(key, f"Read {N_SENTENCES} other sentences", "model_first_read", portions)
    else:
        figures = queued_result(key, portions)
    if figures is None:
        return
    rows = [
        (short_name(*head), percent(weight), f"{length:.2f}", f"{context:.2f}", *(f"{moved:.3f}" for moved in effects))
        for head, (weight, length, context, *effects) in figures.items()
    ]
    header = "the first gets", "its value", "the head takes", *_changes(0)
    figures_table((f"{N_SENTENCES} other sentences", *header), *rows)
    note(
        "Lengths: the mean of the others' values is 1. Switched off, or kept from the first token: how far what comes "
        "next moves (Jensen-Shannon divergence, bits). The second head is a control, of another layer."
    )


def _figures_of(pretrained: Pretrained, inputs: ModelInputs, head: Head) -> list[float]:
    """Return FirstToken's numbers of a text, then how far each of _changes moves what is expected."""
    learned, *changed = (
        run(pretrained, inputs, edits={head[0]: (edit,)} if edit else None)
        for edit in (None, *_changes(head[1]).values())
    )
    first = FirstToken.of(next(iter(learned.groups.values()))[head[0]], head[1])
    shares = [each.logits.float().softmax(-1) for each in (learned, *changed) if each.logits is not None]
    return [*first, *(float(divergence(shares[0], moved).mean()) for moved in shares[1:])]
