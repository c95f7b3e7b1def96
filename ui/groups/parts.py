"""Parts of the page on triples: numbers to type, both heads' answers, the slice of pairs, fresh sequences."""

from __future__ import annotations

import numpy as np
import streamlit as st
import torch

from attention_core.attention.simplicial import pair_scores, pair_weights
from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Role, Step
from attention_core.charts import contact_sheet, matrix_chart, ramp_for, weights_ramp
from attention_core.charts.pairs import pair_map
from attention_core.data.match3 import MODULUS, PRESETS, Typed, fresh_sequences, matching_pairs, read_numbers
from attention_core.device import to_array
from attention_core.evaluate.match3 import accuracy
from attention_core.weights import read_card
from ui.labels import distinct
from ui.models import COMPUTE, model_or_stop
from ui.step_view import show_matrix

HEADS = {"triples": "match3-simplicial", "pairs": "match3-pairwise"}
HEAD_WORDS = {"triples": "looks at pairs of others (2-simplicial)", "pairs": "looks at single others (pairwise)"}
SHORT_WORDS = {"triples": "looks at pairs", "pairs": "looks at singles"}
N_FRESH = 1000
TABLE_STYLE = """<style>
.answers { overflow-x: auto; } .answers table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.answers th, .answers td { padding: 0.28rem 0.36rem; text-align: center; white-space: nowrap; border: none; }
.answers th:first-child { text-align: left; font-weight: 400; padding-left: 0; }
.answers thead th { font-size: 1.15rem; font-weight: 600; border-bottom: 1px solid #8a93a055; }
.answers td.yes { font-weight: 600; } .answers td.no { opacity: 0.75; }
.answers td.wrong { color: #D55E00; font-weight: 600; text-decoration: underline wavy; text-underline-offset: 4px; }
.answers .chosen { box-shadow: inset 0 -3px 0 #0072B2; }
</style>"""


def number_input(name: str) -> Typed:
    """Let a person type numbers or take a preset; the last numbers that could be read stay when these cannot."""
    state = st.session_state
    first = " ".join(str(one) for one in next(iter(PRESETS.values())).numbers)
    if f"{name}_text" not in state:
        asked = st.query_params.get("numbers", "").replace("-", " ")
        state[f"{name}_text"] = asked[:200] if read_numbers(asked).numbers else first
    st.text_input(
        f"Your numbers, 0 to {MODULUS - 1}",
        key=f"{name}_text",
        persist_state="session",
        max_chars=200,
        on_change=_remember,
        args=(name,),
        help="Whole numbers with spaces between. Eight is what the heads were trained on; 3 to 16 are read.",
    )
    with st.container(horizontal=True, gap="small"):
        for place, preset in enumerate(PRESETS):
            st.button(preset, key=f"{name}_preset_{place}", on_click=_take, args=(name, preset))
    typed = read_numbers(state[f"{name}_text"])
    if not typed.numbers:
        st.error(f"{typed.remark} Below are the last numbers that could be read.", icon=":material/error:")
        return Typed(list(state.get(f"{name}_numbers") or read_numbers(first).numbers))
    if typed.remark:
        st.info(typed.remark)
    state[f"{name}_numbers"] = typed.numbers
    for preset in PRESETS.values():
        if list(preset.numbers) == typed.numbers:
            st.caption(preset.note)
    return typed


def _remember(name: str) -> None:
    st.session_state.pop(f"{name}_query", None)
    typed = read_numbers(st.session_state[f"{name}_text"])
    if typed.numbers:
        st.query_params["numbers"] = "-".join(map(str, typed.numbers))


def _take(name: str, preset: str) -> None:
    st.session_state[f"{name}_text"] = " ".join(str(one) for one in PRESETS[preset].numbers)
    _remember(name)


def trace_of(head: str, numbers: list[int]) -> AttentionTrace:
    """Return a head's trace, its model loaded on first use."""
    model = model_or_stop(HEADS[head])
    with COMPUTE:
        return model.trace(numbers)


def choose_query(name: str, numbers: list[int]) -> int:
    """Let a person choose whose question is looked at; at first somebody who has a pair."""
    state = st.session_state
    key = f"{name}_query"
    if not isinstance(state.get(key), int) or not 0 <= state[key] < len(numbers):
        state[key] = next((place for place in range(len(numbers)) if matching_pairs(numbers, place)), 0)
    labels = distinct([str(one) for one in numbers])
    return st.segmented_control(
        "Whose question",
        range(len(numbers)),
        key=key,
        format_func=lambda place: labels[place],
        required=True,
        persist_state="session",
        wrap=True,
    )


def answers_table(numbers: list[int], traces: dict[str, AttentionTrace], query: int) -> None:
    """Draw per number the truth and both heads' answers; wrong ones are marked."""
    truth = [bool(matching_pairs(numbers, place)) for place in range(len(numbers))]
    cells = "".join(f'<th class="{"chosen" if place == query else ""}">{one}</th>' for place, one in enumerate(numbers))
    rows = [f"<thead><tr><th></th>{cells}</tr></thead>"]
    said = "".join(f'<td class="{"yes" if one else "no"}">{"yes" if one else "no"}</td>' for one in truth)
    rows.append(f"<tr><th>is there a pair?</th>{said}</tr>")
    for head, trace in traces.items():
        yes = step_of(trace, "answer").value()[:, 1].tolist()
        right = [(share > 0.5) == one for share, one in zip(yes, truth, strict=True)]
        kinds = [
            "wrong" if not good else "yes" if share > 0.5 else "no" for good, share in zip(right, yes, strict=True)
        ]
        shown = "".join(f'<td class="{kind}">{share:.0%}</td>' for kind, share in zip(kinds, yes, strict=True))
        rows.append(f"<tr><th>{SHORT_WORDS[head]}</th>{shown}</tr>")
    st.html(f'{TABLE_STYLE}<div class="answers"><table>{"".join(rows)}</table></div>')
    st.caption("Per cent: how sure the head is of yes. Underlined in orange: wrong.")


def show_step(trace: AttentionTrace, step: Step, query: int, numbers: list[int], name: str, size: int = 430) -> None:
    """Draw a step: what belongs to pairs as squares of the chosen query, everything else as the shared view does."""
    grid = step.col_axis.grid
    if grid:
        _show_slice(trace, step, query, numbers, name, size)
    elif step.row_axis.grid:
        values = to_array(step.value().float())
        pictures = values.T.reshape(-1, *step.row_axis.grid)
        labels = [f"K[:, {number}]" for number in range(len(pictures))]
        ramp = ramp_for(step.role, values, len(step.col_axis))
        chart = contact_sheet(pictures, labels, ramp, title=step.title.lower(), columns=8, size=size // 8 - 8)
        st.altair_chart(chart, width="content", key=f"{name}_sheet", alt="One small square per dimension of the keys")
    else:
        show_matrix(step, 0, query, name, size)


def _show_slice(trace: AttentionTrace, step: Step, query: int, numbers: list[int], name: str, size: int) -> None:
    single = Axis("pair", [*map(str, numbers), "nobody"])
    values = to_array(step.value(0, [query]).float()).reshape(step.col_axis.grid)
    ramp = None
    if step.name == "weights":
        ramp = weights_ramp(int(np.isfinite(to_array(pair_scores(trace, query))).sum()), float(values.max()))
        values = _seen_only(trace, query)
    chart = pair_map(
        values,
        single,
        step.role,
        framed=matching_pairs(numbers, query),
        title=f"{step.title.lower()} of query {numbers[query]}",
        size=size,
        ramp=ramp,
    )
    st.altair_chart(chart, width="content", key=f"{name}_slice", alt=f"{step.title} of one query over all pairs")
    pairs = " and ".join(f"{numbers[a]} + {numbers[b]}" for a, b in matching_pairs(numbers, query)[:4])
    st.caption(
        f"Framed: {pairs}, which with {numbers[query]} make 0 modulo {MODULUS}."
        if pairs
        else f"No pair sums with {numbers[query]} to 0 modulo {MODULUS}."
    )


def _seen_only(trace: AttentionTrace, query: int) -> np.ndarray:
    """Return one query's weights with NaN where it may not attend."""
    weights, scores = pair_weights(trace, query), pair_scores(trace, query)
    return to_array(weights.masked_fill(torch.isinf(scores), float("nan")))


def all_slices(trace: AttentionTrace, numbers: list[int]) -> None:
    """Draw the whole n x n x n block as one small square per query."""
    squares = np.stack([to_array(pair_weights(trace, place)) for place in range(len(numbers))])
    labels = [f"query {one}" for one in numbers]
    chart = contact_sheet(squares, labels, weights_ramp(squares[0].size, 1.0), title="weight", columns=4, size=120)
    st.altair_chart(chart, width="content", alt="One square of weights over all pairs for every query")


def single_row(trace: AttentionTrace, query: int, numbers: list[int]) -> None:
    """Draw the pairwise head's row for the same query, one cell per other."""
    row = to_array(trace.weights(0, [query]))
    chart = matrix_chart(
        np.where(np.arange(row.shape[1]) == query, np.nan, row),
        Axis("query", [str(numbers[query])]),
        Axis("single others", [*map(str, numbers), "nobody"]),
        Role.WEIGHTS,
        title="weight",
        size=430,
        ramp=weights_ramp(len(numbers), float(row.max())),
    )
    st.altair_chart(chart, width="content", alt="The pairwise head's weights of the same query")


def figures(name: str) -> None:
    """Draw both heads' accuracies from their cards, and on fresh sequences when asked."""
    state = st.session_state
    cards = {head: read_card(file) for head, file in HEADS.items()}
    columns = st.columns(3)
    columns[0].metric("Looks at pairs of others", f"{cards['triples']['test_accuracy']:.1%}")
    columns[1].metric("Looks at single others", f"{cards['pairs']['test_accuracy']:.1%}")
    columns[2].metric("Always the commoner answer", f"{cards['triples']['majority_share']:.1%}")
    st.caption(
        f"Right answers per number on {cards['triples']['test_numbers']:,} held-out numbers. Both heads have "
        f"{cards['triples']['parameters']:,} parameters, the same projections and the same read-out, and saw the same "
        f"{cards['triples']['batches']:,} batches."
    )
    if st.button(f"Try {N_FRESH:,} new sequences", key=f"{name}_fresh"):
        state[f"{name}_seed"] = state.get(f"{name}_seed", 0) + 1
    if state.get(f"{name}_seed"):
        results = {head: _fresh_accuracy(file, state[f"{name}_seed"]) for head, file in HEADS.items()}
        st.markdown(
            f"Draw {state[f'{name}_seed']}: pairs of others **{results['triples']:.2%}**, "
            f"single others **{results['pairs']:.2%}**."
        )


@st.cache_data(max_entries=200, show_spinner="Answering")
def _fresh_accuracy(model_name: str, seed: int) -> float:
    model = model_or_stop(model_name)
    with COMPUTE:
        return accuracy(model, fresh_sequences(N_FRESH, seed), next(model.parameters()).device.type)
