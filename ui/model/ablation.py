"""Attention of a model changed by hand: what it then makes of the same input, and which heads matter."""

from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st
from torch import Tensor

from attention_core.attention.edits import DropHead, Edits
from attention_core.attention.types import Role
from attention_core.charts.vega import ROLE_COLOURS
from attention_core.device import to_array
from attention_core.hub import outputs as core
from attention_core.hub.model import ModelError, ModelKind, Pretrained, as_model_errors, predicts_words
from attention_core.hub.run import ModelRun
from attention_core.hub.tracing import UnsupportedError
from attention_core.links import unpack
from attention_core.study import ModelOutput, Study
from ui import edits as by_hand
from ui.job_queue import heavy_run
from ui.labels import distinct, error_markdown, literal, paragraph
from ui.lecture import LECTURE
from ui.model import glance
from ui.model.one_head import MAX_DRAWN, Chip, chips, shaded
from ui.model.words import given_ids
from ui.model_runs import LatestRun, prepared_of, pretrained_of, run_of
from ui.state import Field, whole_number

N_SHOWN = 6
MAX_BITS = 6  # a token whose log-probability changes by so many bits has the full shade
EVERY_HEAD = Field(glance.NAME, "out_every", False, address="every")
CHANGE_AT = Field[int | None](glance.NAME, "out_change_at", None, address="change_at", parse=whole_number)
TRYING = Field(glance.NAME, "out_trying", False)
"""Whether every head is being tried."""


def _without(group: str, layer: int, head: int, model: str = "") -> by_hand.ListedEdit:
    says = f"{glance.head_name(group, layer, head)}: switched off"
    return by_hand.ListedEdit(DropHead(head), says, by_hand.where_in_stack(group, layer), by_hand.input_mark(model))


def _switched_off(text: str) -> list[by_hand.ListedEdit]:
    heads = [(str(group), int(layer), int(head)) for group, layer, head in unpack(text)]
    return [_without(*head) for head in heads]


EDITS = by_hand.EditList(glance.NAME, off=_switched_off)


def _input_of(run: ModelRun) -> str:
    return " ".join((run.model, *run.tokens, *run.target_tokens))


def edits_of(run: ModelRun) -> dict[int, Edits]:
    """Return the edits that fit a run, by the numbers of its traces."""
    number = {id(trace): number for number, trace in enumerate(run.recording.traces)}
    places = {(group, layer): one for group, layers in run.groups.items() for layer, one in enumerate(layers)}
    fit = EDITS.fitting_each(lambda: places, (_input_of(run), run.model))
    return {number[id(places[place])]: edits for place, edits in fit.items()}


def changed_run(run: ModelRun, asked: LatestRun | None) -> ModelRun:
    """Return the run with the edits of this page that fit; a recording cannot run again."""
    if asked is None or not (edits := edits_of(run)):
        return run
    try:
        return run_of(*asked, edits)
    except ModelError as error:
        st.warning(error_markdown(error))
        return run


def change_heads(run: ModelRun, changed: ModelRun, asked: LatestRun) -> None:
    """Draw what can be changed of the chosen head, what becomes of the output, and how much each head is needed."""
    st.markdown("High weights cannot tell whether a head matters. Switch it off, or change a weight, and see.")
    if "bypasses" in run.recording.note:
        name = pretrained_of(asked.key).name
        st.info(f"The code of {name} bypasses the library's attention interface: no head can be changed.")
        return
    now = glance.chosen(run)
    left, right = st.columns([1, 1.15], gap="large")
    with left:
        _controls(run, changed, now)
        _map(run, asked, now)
    with right:
        if changed is run:
            st.info("Nothing is changed.")
        else:
            pretrained = pretrained_of(asked.key)
            if pretrained.kind is ModelKind.VISION:
                _classes(run, changed, pretrained)
            elif pretrained.kind is ModelKind.ENCODER or not predicts_words(pretrained) or run.logits is None:
                _last_layer(run, changed)
            else:
                _next_word(run, changed, asked)
            before, after = (one.groups[now.group][now.layer] for one in (run, changed))
            if max(after.n_queries, after.n_keys) <= MAX_DRAWN and not LECTURE.value:
                by_hand.show_weights_difference(glance.NAME, before, after, now.head)
    if TRYING.value and not glance.run_again():
        TRYING.value = False


def _controls(run: ModelRun, changed: ModelRun, now: glance.Selection) -> None:
    name, ways = glance.head_name(*now[:3]), [_without(*now[:3], model) for model in (run.model, "")]  # "": an old link
    off = next((way for way in ways if way in EDITS.changes), None)
    trace, where = changed.groups[now.group][now.layer], by_hand.where_in_stack(now.group, now.layer)
    with st.container(horizontal=True, vertical_alignment="center", key="model_out"):
        st.markdown(f"**{name.capitalize()}**", width="content")
        label = "Switch it on" if off else "Switch it off"
        st.button(label, key="model_out_switch", on_click=EDITS.toggle, args=(off or ways[0],))
        every = EVERY_HEAD.widget(st.toggle, "Weights of every head of the layer")
    begins = f"{now.group}, layer {now.layer + 1}, every head: " if every else f"{name}: "
    asks = trace.story.query_axis.labels[now.query].strip()
    row = by_hand.WeightsRow(
        EDITS, trace, [now.query], None if every else now.head, where, _input_of(run), begins, asks
    )
    asking = range(trace.n_queries if len(row.seen) == trace.n_keys else now.query)  # who sees no more than it does
    others = {query: trace.story.query_axis.labels[query].strip() for query in asking if query != now.query}
    hint = "Switch the head off, or choose a token that it looks at: cut it, or set its weight."
    by_hand.matrix_editor(row, lambda query: glance.choose(query=query), None, others, hint)


def _map(run: ModelRun, asked: LatestRun, now: glance.Selection) -> None:
    st.markdown(f"**Which heads matter: {now.group}**")
    tried, traces = glance.cached_with_run(run, "worth of heads", list[np.ndarray]), run.recording.traces
    if len(tried) < len(traces):
        _go_on(run, asked, tried)
    numbers = {id(trace): number for number, trace in enumerate(traces)}
    known = [*tried, *[np.full(max(trace.n_heads for trace in traces), np.nan)] * (len(traces) - len(tried))]
    amounts = np.array([known[numbers[id(trace)]] for trace in run.groups[now.group]])
    if not np.isfinite(amounts).any():
        return
    scale, parts = (1000, "thousandths") if np.nanmax(amounts) < 0.1 else (100, "hundredths")
    glance.head_map(
        run,
        "model_out_worth",
        (scale * amounts).tolist(),
        now,
        f"change, {parts} of a bit" if run.logits is not None else f"1 - cosine, {parts}",
    )
    layer, head = np.unravel_index(int(np.nanargmax(amounts)), amounts.shape)
    st.caption(
        f"Most needed {'so far' if len(tried) < len(traces) else 'here'}: layer {layer + 1}, head {head + 1}. "
        "Two heads that can replace each other both seem unnecessary. Click one."
    )


def _go_on(run: ModelRun, asked: LatestRun, tried: list[np.ndarray]) -> None:
    """Try the heads of further layers while that is asked for: how much each alone changes the output, (n_heads,).

    It is the mean over positions. What is done is kept when it is stopped.
    """
    traces = run.recording.traces
    if not TRYING.value:
        words = f"Go on: {len(tried)} of {len(traces)} layers are done" if tried else "Try every head"
        st.button(words, key="model_out_try", on_click=TRYING.take, args=(True,))
        if not tried:
            st.caption(f"Runs the model once without each of its {sum(trace.n_heads for trace in traces)} heads.")
        return

    def change(out: ModelOutput) -> Tensor:
        if run.logits is None or out.logits is None:
            if run.hidden is None or out.hidden is None:
                raise UnsupportedError("it hands out nothing that could be compared.")
            return core.cosine_change(run.hidden, out.hidden).mean()
        after = out.logits.reshape(-1, out.logits.shape[-1])
        return core.divergence(run.logits, after[-len(run.logits) :]).mean()

    place = st.empty()
    with place.container(horizontal=True, vertical_alignment="center"):
        st.progress(len(tried) / len(traces), f"{len(tried)} of {len(traces)} layers", width=280)
        st.button("Stop", key="model_out_stop", on_click=TRYING.take, args=(False,))
    pretrained, inputs = pretrained_of(asked.key), prepared_of(*asked).inputs
    study = Study(pretrained.model, pretrained.tokenizer)
    try:
        for _ in glance.portion():
            with heavy_run(), as_model_errors(pretrained, "be run without a head", UnsupportedError):
                if (number := len(tried)) == len(traces):  # another visitor may try them meanwhile
                    break
                heads = [(number, head) for head in range(traces[number].n_heads)]
                tried.append(to_array(study.ablate(inputs, metric=change, heads=heads).values[number]))
    except ModelError as error:
        TRYING.value = False
        st.warning(f"The heads cannot be tried: {error_markdown(str(error).splitlines()[0][:300])}")
        return
    if len(tried) == len(traces):
        TRYING.value = False
        place.empty()


def _next_word(run: ModelRun, changed: ModelRun, asked: LatestRun) -> None:
    ids = given_ids(asked)
    tokens = run.target_tokens or run.tokens
    before, after = run.logits, changed.logits
    skipped, last = len(ids) - len(before), len(ids) - 1
    changed = core.divergence(before, after)
    place = last if CHANGE_AT.value is None else min(CHANGE_AT.value, last)
    row = max(0, place - skipped)
    gains = core.log_probabilities(after, ids[skipped:]) - core.log_probabilities(before, ids[skipped:])
    if run.tiles:  # nobody expects what a picture becomes
        first, (rows, columns) = run.tiles.n_prefix - 1 - skipped, run.tiles.grid
        gains[max(0, first) : max(0, first + rows * columns)] = 0
    shown = [Chip(text, 0, "its change is not measured", "#888888") for text in tokens[: skipped + 1]]
    for text, gain in zip(tokens[skipped + 1 :], gains.tolist(), strict=True):
        colour = ROLE_COLOURS[Role.QUERY if gain > 0 else Role.CONTEXT]
        shown.append(Chip(text, abs(gain) / MAX_BITS, f"its log-probability changes by {gain:+.2f} bits", colour))
    total = float(gains.sum())
    factor = 2 ** min(abs(total), 40)
    times = f"{factor:.2g}" if factor < 10 else f"{factor:,.0f}" if factor < 1e6 else "over a million"
    st.markdown(
        f"**The text becomes {times} times {'less' if total < 0 else 'more'} probable** "
        f"({total:+.2f} bits); what is expected changes by {_small(float(changed.mean()))} bits a position, "
        f"{_small(float(changed[row]))} after {literal(tokens[place].strip() or tokens[place])} (Jensen-Shannon)."
    )
    label = "The text, by the change of its tokens"
    hint = "Orange: less probable now; blue: more. Click one for what is expected after it."
    chips("model_out_change_chips", shown, chosen=place, label=label, hint=hint, on_choose=CHANGE_AT.take)
    show_likeliest(before[row], after[row], partial(core.token_text, pretrained_of(asked.key).tokenizer))


def show_likeliest(before: Tensor, after: Tensor, text: Callable[[int], str], name: str = glance.NAME) -> None:
    """Draw the tokens or classes that are likeliest by either logits (n_tokens,); `name` begins the chart's key."""
    one, other, n = before.float().softmax(-1), after.float().softmax(-1), min(N_SHOWN, len(before))
    numbers = sorted({*one.topk(n).indices.tolist(), *other.topk(n).indices.tolist()}, key=lambda at: -float(one[at]))
    by_hand.show_outcome(name, distinct([text(at) for at in numbers]), one[numbers].tolist(), other[numbers].tolist())


def _classes(run: ModelRun, changed: ModelRun, pretrained: Pretrained) -> None:
    if run.logits is not None and changed.logits is not None:
        names = getattr(pretrained.model.config, "id2label", {})
        amount = float(core.divergence(run.logits, changed.logits)[0])
        st.markdown(f"**The classes change by {_small(amount)} bits** (Jensen-Shannon, 0 to 1).")
        before, after = run.logits[0], changed.logits[0]
        show_likeliest(before, after, lambda number: str(names.get(number, number)).split(",")[0])


def _last_layer(run: ModelRun, changed: ModelRun) -> None:
    if run.hidden is None or changed.hidden is None:
        st.info("The model hands out nothing that could be compared.")
        return
    turned = core.cosine_change(run.hidden, changed.hidden)
    most = max(float(turned.max()), 1e-6)
    tokens = run.tokens if len(run.tokens) == len(turned) else run.target_tokens
    whole = core.sentence_change(run.hidden, changed.hidden)
    paragraph(
        f"**The sentence's vector turns by {_small(whole)}** (1 - cosine), a token's by {_small(float(turned.mean()))}."
    )
    notes = [f"its last layer turns by {_small(amount)}" for amount in turned.tolist()]
    shown = shaded(tokens, turned.tolist(), notes, most=most)
    hint = f"The strongest shade: {_small(most)}. Hover a token for its change."
    chips("model_out_turned_chips", shown, label="The tokens by their change", hint=hint)


def _small(amount: float) -> str:
    return f"{amount:.2g}" if amount >= 0.0001 else "under 0.0001"
