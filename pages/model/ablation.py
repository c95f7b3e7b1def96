"""Attention of a model changed by hand, and what it then makes of the same input."""

from collections.abc import Callable
from functools import partial

import streamlit as st
from torch import Tensor

from attention_core.attention.edits import DropHead, Edits
from attention_core.hub import outputs as core
from attention_core.hub.model import ModelError, ModelKind, Pretrained, predicts_words
from attention_core.hub.run import ModelRun
from attention_core.links import unpack
from pages.model import glance
from pages.model.one_head import MAX_DRAWN
from pages.model.words import given_ids
from ui import edits as by_hand
from ui.labels import distinct, error_markdown, paragraph
from ui.lecture.mode import LECTURE
from ui.model_runs import LatestRun, pretrained_of, run_of
from ui.parts import changing

N_SHOWN = 6


def _without(group: str, layer: int, head: int, model: str = "") -> by_hand.ListedEdit:
    says = f"{glance.head_name(group, layer, head)}: switched off"
    return by_hand.ListedEdit(DropHead(head), says, by_hand.name_in_stack(group, layer), by_hand.input_hash(model))


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
    """Draw what can be changed of the chosen head, and what becomes of the output."""
    st.markdown("High weights cannot tell whether a head matters. Switch it off, or change a weight, and see.")
    if "bypasses" in run.recording.note:
        name = pretrained_of(asked.key).name
        st.info(f"The code of {name} bypasses the library's attention interface: no head can be changed.")
        return
    now = glance.chosen(run)
    left, right = st.columns([1, 1.15], gap="large")
    with left:
        _controls(run, changed, now)
    with right:
        if changed is run:
            st.info("Nothing is changed.")
        else:
            pretrained = pretrained_of(asked.key)
            if pretrained.kind is ModelKind.VISION:
                _classes(run, changed, pretrained)
            elif pretrained.kind is ModelKind.ENCODER or not predicts_words(pretrained):
                _last_layer(run, changed)
            else:
                _next_word(run, changed, asked)
            before, after = (one.groups[now.group][now.layer] for one in (run, changed))
            if max(after.n_queries, after.n_keys) <= MAX_DRAWN and not LECTURE.value:
                by_hand.show_weights_difference(glance.NAME, before, after, now.head)


def _controls(run: ModelRun, changed: ModelRun, now: glance.Selection) -> None:
    name, ways = glance.head_name(*now[:3]), [_without(*now[:3], model) for model in (run.model, "")]  # "": an old link
    off = next((way for way in ways if way in EDITS.changes), None)
    trace, where = changed.groups[now.group][now.layer], by_hand.name_in_stack(now.group, now.layer)
    with st.container(horizontal=True, vertical_alignment="center", key="model_out"):
        st.markdown(f"**{name.capitalize()}**", width="content")
        label = "Switch it on" if off else "Switch it off"
        st.button(label, key="model_out_switch", on_click=changing(EDITS.toggle), args=(off or ways[0],))
    asks = trace.story.query_axis.labels[now.query].strip()
    row = by_hand.WeightsRow(EDITS, trace, [now.query], now.head, where, _input_of(run), f"{name}: ", asks)
    asking = range(trace.n_queries if len(row.keys) == trace.n_keys else now.query)  # who sees no more than it does
    others = {query: trace.story.query_axis.labels[query].strip() for query in asking if query != now.query}
    hint = "Switch the head off, or choose a token that it looks at: cut it, or set its weight."
    by_hand.matrix_editor(row, lambda query: glance.choose(query=query), None, others, hint)


def _next_word(run: ModelRun, changed: ModelRun, asked: LatestRun) -> None:
    before, after, ids = run.logits, changed.logits, given_ids(asked)
    if before is None or after is None:
        return _last_layer(run, changed)
    skipped = len(ids) - len(before)
    gains = core.log_probabilities(after, ids[skipped:]) - core.log_probabilities(before, ids[skipped:])
    if run.tiles:  # nobody expects what a picture becomes
        first, (rows, columns) = run.tiles.n_prefix - 1 - skipped, run.tiles.grid
        gains[max(0, first) : max(0, first + rows * columns)] = 0
    total = float(gains.sum())
    times = in_times(2 ** min(abs(total), 40))
    becomes = f"becomes {times} times {'less' if total < 0 else 'more'}" if times != "1" else "stays as"
    st.markdown(f"**The text {becomes} probable.** And what comes next:")
    show_likeliest(before[-1], after[-1], partial(core.token_text, pretrained_of(asked.key).tokenizer))


def in_times(factor: float) -> str:
    """Return how many times more or less, "1" = as much."""
    return f"{factor:.2g}" if factor < 9.95 else f"{factor:,.0f}" if factor < 999_999.5 else "over a million"


def show_likeliest(before: Tensor, after: Tensor, text: Callable[[int], str], name: str = glance.NAME) -> None:
    """Draw the tokens or classes that are likeliest by either logits (n_tokens,); `name` begins the chart's key."""
    one, other, n = before.float().softmax(-1), after.float().softmax(-1), min(N_SHOWN, len(before))
    numbers = sorted({*one.topk(n).indices.tolist(), *other.topk(n).indices.tolist()}, key=lambda at: -float(one[at]))
    by_hand.show_outcome(name, distinct([text(at) for at in numbers]), one[numbers].tolist(), other[numbers].tolist())


def _classes(run: ModelRun, changed: ModelRun, pretrained: Pretrained) -> None:
    if run.logits is not None and changed.logits is not None:
        names = getattr(pretrained.model.config, "id2label", {})
        before, after = run.logits[0], changed.logits[0]
        show_likeliest(before, after, lambda number: str(names.get(number, number)).split(",")[0])


def _last_layer(run: ModelRun, changed: ModelRun) -> None:
    if run.hidden is None or changed.hidden is None:
        st.info("The model hands out nothing that could be compared.")
        return
    whole, each = core.sentence_change(run.hidden, changed.hidden), core.cosine_change(run.hidden, changed.hidden)
    paragraph(
        f"**The sentence's vector turns by {small(whole)}** (1 - cosine), a token's by {small(float(each.mean()))}."
    )


def small(amount: float) -> str:
    return f"{amount:.2g}" if amount >= 0.0001 else "under 0.0001"
