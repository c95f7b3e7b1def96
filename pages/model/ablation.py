"""Attention of a model changed by hand, and what it then makes of the same input."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.edits import DropHead, Edits
from attention_core.hub import outputs as core
from attention_core.hub.model import ModelError, ModelKind, predicts_words
from attention_core.hub.run import ClassProbability, ModelRun
from attention_core.links import unpack
from pages.model import glance
from pages.model.writing import input_ids_of
from ui import edits as by_hand
from ui.fragments import with_rerun
from ui.labels import distinct, error_markdown, paragraph
from ui.lecture.mode import LECTURE
from ui.model_runs import RunRequest, pretrained_of, run_of
from ui.player import MAX_MATRIX_SIDE

N_LIKELIEST = 6


def _without(group: str, layer: int, head: int, model: str = "") -> by_hand.ListedEdit:
    description = f"{glance.head_name(group, layer, head)}: switched off"
    return by_hand.ListedEdit(
        DropHead(head), description, by_hand.name_in_stack(group, layer), by_hand.input_hash(model)
    )


def _switched_off(text: str) -> list[by_hand.ListedEdit]:
    heads = [(str(group), int(layer), int(head)) for group, layer, head in unpack(text)]
    return [_without(*head) for head in heads]


EDITS = by_hand.EditList(glance.NAME, off=_switched_off)


def _input_of(run: ModelRun) -> str:
    return " ".join((run.model, *run.tokens, *run.target_tokens))


def edits_of(run: ModelRun) -> dict[int, Edits]:
    """Return the edits that fit a run, by the numbers of its traces."""
    number = {id(trace): number for number, trace in enumerate(run.recording.traces)}
    layer_of = {(group, layer): trace for group, layers in run.groups.items() for layer, trace in enumerate(layers)}
    fit = EDITS.fitting_each(lambda: layer_of, (_input_of(run), run.model))
    return {number[id(layer_of[key])]: edits for key, edits in fit.items()}


def changed_run(run: ModelRun, request: RunRequest | None) -> ModelRun:
    """Return the run with the edits of this page that fit; a recording cannot run again."""
    if request is None or not (edits := edits_of(run)):
        return run
    try:
        return run_of(*request, edits)
    except ModelError as error:
        st.warning(error_markdown(error))
        return run


def change_heads(run: ModelRun, changed: ModelRun, request: RunRequest) -> None:
    """Draw what can be changed of the chosen head, and what becomes of the output."""
    if "bypasses" in run.recording.note:
        name = pretrained_of(request.model_key).name
        st.info(f"The code of {name} bypasses the library's attention interface: no head can be changed.")
        return
    selection = glance.chosen(run)
    left, right = st.columns([1, 1.15], gap="large")
    with left:
        _controls(run, changed, selection)
    with right:
        if changed is run:
            st.info("Nothing is changed.")
        else:
            pretrained = pretrained_of(request.model_key)
            if classes := run.classes_at(selection.query):
                first, second = (_probabilities(either.classes_at(selection.query)) for either in (run, changed))
                show_likeliest(first, second, lambda number: classes[number].name)
            elif pretrained.kind is ModelKind.ENCODER or not predicts_words(pretrained):
                _last_layer(run, changed)
            else:
                _draw_next_token(run, changed, request)
            before, after = (either.groups[selection.group][selection.layer] for either in (run, changed))
            if max(after.n_queries, after.n_keys) <= MAX_MATRIX_SIDE and not LECTURE.value:
                by_hand.show_weights_difference(glance.NAME, before, after, selection.head)


def _probabilities(classes: Sequence[ClassProbability]) -> Tensor:
    return torch.tensor([label.probability for label in classes])


def _controls(run: ModelRun, changed: ModelRun, selection: glance.Selection) -> None:
    group, layer, head, query = selection
    name, location = glance.head_name(group, layer, head), by_hand.name_in_stack(group, layer)
    candidates = [_without(group, layer, head, model) for model in (run.model, "")]  # "": an old link
    off = next((edit for edit in candidates if edit in EDITS.changes), None)
    with st.container(horizontal=True, vertical_alignment="center", key="model_out"):
        st.markdown(f"**{name.capitalize()}**", width="content")
        label = "Switch it on" if off else "Switch it off"
        st.button(label, key="model_out_switch", on_click=with_rerun(EDITS.toggle), args=(off or candidates[0],))
    trace = changed.groups[group][layer]
    if trace.story.query_axis.grid is not None:
        st.caption(f"{trace.story.note} So only whole heads can be changed.")
        return
    labels = [label.strip() for label in trace.story.query_axis.labels]
    row = by_hand.WeightsRow(EDITS, trace, [query], head, location, _input_of(run), f"{name}: ", labels[query])
    n_donors = trace.n_queries if len(row.keys) == trace.n_keys else query  # who sees no more than it does
    donors = {donor: labels[donor] for donor in range(n_donors) if donor != query}
    hint = "Switch the head off, or choose a token that it looks at."
    by_hand.matrix_editor(row, lambda query: glance.choose(query=query), None, donors, hint)


def _draw_next_token(run: ModelRun, changed: ModelRun, request: RunRequest) -> None:
    before, after, ids = run.logits, changed.logits, input_ids_of(request)
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
    text = "target" if run.kind is ModelKind.ENCODER_DECODER else "text"
    st.markdown(f"**The {text} {becomes} probable.** And what comes next:")
    before, after = (logits[-1].float().softmax(-1) for logits in (before, after))
    show_likeliest(before, after, partial(core.token_text, pretrained_of(request.model_key).tokenizer))


def in_times(factor: float) -> str:
    """Return how many times more or less, "1" = as much."""
    return f"{factor:.2g}" if factor < 9.95 else f"{factor:,.0f}" if factor < 999_999.5 else "over a million"


def show_likeliest(before: Tensor, after: Tensor, text: Callable[[int], str]) -> None:
    """Draw the tokens or classes that are likeliest by either probabilities (n_tokens,)."""
    n = min(N_LIKELIEST, len(before))
    likeliest = {*before.topk(n).indices.tolist(), *after.topk(n).indices.tolist()}
    tokens = sorted(likeliest, key=lambda token: -float(before[token]))
    by_hand.show_outcome(distinct([*map(text, tokens)]), before[tokens].tolist(), after[tokens].tolist())


def _last_layer(run: ModelRun, changed: ModelRun) -> None:
    if run.hidden is None or changed.hidden is None:
        st.info("The model hands out nothing that could be compared.")
        return
    of_sentence = small(core.sentence_change(run.hidden, changed.hidden))
    of_token = small(float(core.cosine_change(run.hidden, changed.hidden).mean()))
    paragraph(f"**The sentence's vector turns by {of_sentence}** (1 - cosine), a token's by {of_token}.")


def small(amount: float) -> str:
    return f"{amount:.2g}" if amount >= 0.0001 else "under 0.0001"
