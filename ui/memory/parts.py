"""Parts of the page on forgetting: both networks' memories of the sentence, walked through and compared."""

from __future__ import annotations

import html
from typing import cast

import numpy as np
import streamlit as st

from attention_core.charts import signed_ramp
from attention_core.charts.memory import NETWORK_COLOURS, fading_chart, gradient_heatmap, gradient_ramp, over_time
from attention_core.charts.palette import VIRIDIS, Ramp
from attention_core.evaluate.forgetting import read_forgetting
from attention_core.models.translator import Translator
from attention_core.topics.memory.overview import MEASURES, Memory, norms_table, remember
from attention_core.topics.translate.translation import Source, read_source
from ui.labels import literal
from ui.models import COMPUTE, model_or_none
from ui.walk import walk, walk_to

NETWORKS = {"translator-none": "GRU", "translator-plain": "plain RNN"}
CHART_WIDTH = 470
FORMULAS = {
    "GRU": r"h_t = z_t \odot h_{t-1} + (1 - z_t) \odot n_t",
    "plain RNN": r"h_t = \tanh(W_x x_t + W_h h_{t-1} + b)",
}
CODE = {
    "GRU": "reset, update = torch.sigmoid(W_x[:2] @ x + W_h[:2] @ h + b[:2])\n"
    "proposal = torch.tanh(W_x[2] @ x + b_x + reset * (W_h[2] @ h + b_h))\n"
    "h = update * h + (1 - update) * proposal",
    "plain RNN": "h = torch.tanh(W_x @ x + W_h @ h + b)",
}
GATE_RAMP = Ramp(VIRIDIS, 0.0, 1.0)
STYLE = """<style>
.shaded { line-height: 1.3; margin: 0.1rem 0 0.5rem; }
.shaded .word { display: inline-block; text-align: center; padding: 0.15rem 0.3rem; margin: 0 0.15rem 0.3rem 0;
  border-radius: 3px; max-width: 100%; overflow-wrap: anywhere; }
.shaded .share { display: block; font-size: 0.68rem; opacity: 0.75; font-variant-numeric: tabular-nums; }
.shaded .name { font-weight: 600; display: block; margin-bottom: 0.25rem; }
</style>"""


@st.cache_data(max_entries=64, show_spinner="Reading the sentence")
def _remember(name: str, text: str, by_pieces: bool) -> Memory:
    with COMPUTE:
        return remember(cast(Translator, model_or_none(name)[0]), read_source(text), by_pieces)


def memories_of(text: str, by_pieces: bool) -> dict[str, Memory]:
    """Return what each network that is there remembers of the sentence; say what is missing, end the page if all is."""
    found = {}
    for name, label in NETWORKS.items():
        model, fault = model_or_none(name)
        if model is None:
            st.error(f"**The {label} cannot be loaded.** {fault}", icon=":material/error:")
        else:
            found[label] = _remember(name, text, by_pieces)
    if not found:
        st.stop()
    return found


def pieces_remark(source: Source) -> None:
    """Say which words are read in several pieces, and which signs the vocabulary does not have."""
    cut = [
        (word, [piece for piece, of in zip(source.labels, source.word_of, strict=True) if of == number])
        for number, word in enumerate(source.words)
    ]
    several = [f"{literal(word, 20)} as {literal(' '.join(some), 40)}" for word, some in cut if len(some) > 1]
    remarks = []
    if source.n_dropped:
        last = literal(source.words[-1], 20)
        remarks.append(f"Rare words take many pieces: the reading ends after {last}, {source.n_dropped} words early.")
    if several:
        more = f" and {len(several) - 3} more" if len(several) > 3 else ""
        remarks.append(f"Read in pieces: {', '.join(several[:3])}{more}.")
    if source.unknown:
        unknown = ", ".join(literal(word, 20) for word in source.unknown[:4])
        remarks.append(f"Not in the vocabulary, so that the networks cannot tell them apart: {unknown}.")
    if remarks:
        st.caption(" ".join(remarks))


def end_section(memories: dict[str, Memory], both: bool) -> None:
    """Shade the sentence by how much of each word reached what is handed over at the end."""
    share = {label: memory.share_at_end(both) for label, memory in memories.items()}
    largest = max(float(one.max()) for one in share.values())
    blocks = [_shaded(label, memory, share[label], largest) for label, memory in memories.items()]
    st.html(STYLE + "".join(blocks))
    state = "the two last states, all that a translator without attention hands over," if both else "the last state"
    st.caption(f"How much {state} still depends on each word, in per cent: shares of the gradient's norm.")


def _shaded(label: str, memory: Memory, share: np.ndarray, largest: float) -> str:
    colour = NETWORK_COLOURS[label]
    words = "".join(
        f'<span class="word" style="background:color-mix(in srgb, {colour} {55 * part / largest:.0f}%, transparent)">'
        f'{html.escape(word)}<span class="share">{100 * part:.{0 if part >= 0.0095 else 1}f}</span></span>'
        for word, part in zip(memory.labels, share, strict=True)
    )
    return f'<div class="shaded"><span class="name">{label}</span>{words}</div>'


def walk_section(name: str, memories: dict[str, Memory], both: bool) -> int:
    """Walk through the reading: states and gates of both networks fill up column by column; returns the position."""
    labels = next(iter(memories.values())).labels
    at = walk(name, labels, first=len(labels) - 1)
    for column, (label, memory) in zip(st.columns(2, gap="large"), memories.items(), strict=False):
        with column:
            st.markdown(f"**{label}**")
            _now_words(memory, at, both)
            for direction in ("forward", "backward") if both else ("forward",):
                _state_chart(name, label, memory, direction, at, both)
            if not both:
                _gates(name, label, memory, at)
            with st.expander("Formula and PyTorch lines"):
                st.latex(FORMULAS[label])
                st.code(CODE[label])
    return at


def _now_words(memory: Memory, at: int, both: bool) -> None:
    """Say what is read at this moment and what the gates do with the old state."""
    places = {"forward": at, "backward": len(memory) - 1 - at} if both else {"forward": at}
    said = []
    for direction, place in places.items():
        gates = memory.gate_means(direction, place)
        word = f"{direction.capitalize()}s, {literal(memory.labels[place], 20)}"
        if gates is None:
            said.append(f"{word}: writes the whole state anew.")
        else:
            said.append(f"{word}: keeps **{gates[0]:.0%}** of the state (reset gate {gates[1]:.0%}).")
    st.markdown("  \n".join(said))


def _state_chart(name: str, label: str, memory: Memory, direction: str, at: int, both: bool) -> None:
    values = memory.states[direction]
    n = len(memory)
    now = at if direction == "forward" else n - 1 - at
    read = [place <= now if direction == "forward" else place >= now for place in range(n)]
    chart = over_time(
        values,
        memory.labels,
        signed_ramp(np.array([-1.0, 1.0])),
        title=f"hidden state, read {direction}s; dimensions that behave alike are neighbours",
        bar="number in the state",
        columns=memory.column_facts("states", direction),
        read=read,
        now=now,
        size=(CHART_WIDTH, 192),
    )
    st.altair_chart(
        chart,
        width="content",
        key=f"{name}_{label}_{direction}",
        alt=f"Hidden state of the {label} over the words, read {direction}s",
    )


def _gates(name: str, label: str, memory: Memory, at: int) -> None:
    if not memory.update:
        st.caption("A plain network has no gates: nothing decides what is worth keeping.")
        return
    titles = {
        "update": "update gate: the share of the old state that is kept",
        "reset": "reset gate: the share of it that the proposal for the new one sees",
    }
    for kind, title in titles.items():
        chart = over_time(
            getattr(memory, kind)["forward"],
            memory.labels,
            GATE_RAMP,
            title=title,
            bar="gate, 0 closed to 1 open" if kind == "reset" else None,
            columns=memory.column_facts(kind, "forward"),
            read=[place <= at for place in range(len(memory))],
            now=at,
            size=(CHART_WIDTH, 64),
            words=False,
        )
        st.altair_chart(chart, width="content", key=f"{name}_{label}_{kind}", alt=f"{title}, over the words")


def gradient_section(name: str, memories: dict[str, Memory], both: bool, at: int) -> None:
    """Compare how much each word still matters to each state; a click on a row goes to that state."""
    left, right = st.columns([2.2, 1], vertical_alignment="bottom")
    with left:
        measure = st.segmented_control(
            "Shown",
            list(MEASURES),
            format_func=MEASURES.__getitem__,
            default="norm",
            key=f"{name}_measure",
            required=True,
            persist_state="session",
            label_visibility="collapsed",
            wrap=True,
        )
    with right:
        logarithmic = st.toggle("Logarithmic colours", key=f"{name}_log", persist_state="session")
    matrices = {label: memory.matrix(measure, both) for label, memory in memories.items()}
    ramp = gradient_ramp(list(matrices.values()), logarithmic)
    for column, (label, memory) in zip(st.columns(2, gap="large"), memories.items(), strict=False):
        with column:
            st.markdown(f"**{label}**")
            key = f"{name}_cells_{label}_{len(memory)}"
            chart = gradient_heatmap(
                matrices[label],
                memory.labels,
                ramp,
                title=MEASURES[measure],
                told=memory.told(measure, both),
                logarithmic=logarithmic,
                marked_row=at,
                select="cell",
                size=CHART_WIDTH - 90,
            )
            st.altair_chart(
                chart,
                width="content",
                key=key,
                on_select=lambda key=key: _go_to_clicked(name, key),
                selection_mode="cell",
                alt=f"How much each word still matters to each state of the {label}",
            )


def _go_to_clicked(name: str, key: str) -> None:
    picked = (st.session_state.get(key) or {}).get("selection", {}).get("cell") or []
    if picked and isinstance(picked[0].get("row"), int):
        walk_to(name, picked[0]["row"])


def fading_section(name: str, memories: dict[str, Memory]) -> None:
    """Draw how fast the first word of this sentence fades, and words in general."""
    logarithmic = st.toggle("Logarithmic axis", value=True, key=f"{name}_fading_log", persist_state="session")
    here, general = st.columns(2, gap="large")
    labels = next(iter(memories.values())).labels
    with here:
        chart = fading_chart(
            {label: memory.left_after() for label, memory in memories.items()},
            words=labels,
            logarithmic=logarithmic,
            title=f"What is left of the first word, “{labels[0][:24]}”",
        )
        st.altair_chart(
            chart, width="content", key=f"{name}_fading", alt="What is left of the first word after more words"
        )
        st.markdown("  \n".join(_half_life_words(label, memory.half_life()) for label, memory in memories.items()))
    with general:
        _average(name, logarithmic)


def _half_life_words(label: str, half: float | None) -> str:
    if half is None:
        return f"**{label}**: more than half of it is left at the end."
    return f"**{label}**: half of it is gone after {half:.1f} words."


def _average(name: str, logarithmic: bool) -> None:
    figures = read_forgetting()
    if figures is None:
        st.caption("The average over many sentences has not been measured with these weights.")
        return
    known = {NETWORKS[key]: one for key, one in figures["networks"].items() if key in NETWORKS}
    chart = fading_chart(
        {label: one["median"] for label, one in known.items()},
        bands={label: (one["lower"], one["upper"]) for label, one in known.items()},
        logarithmic=logarithmic,
        title="What is left of any word: median, and the middle half",
    )
    st.altair_chart(
        chart,
        width="content",
        key=f"{name}_average",
        alt="What is left of a word after more words, over many sentences",
    )
    halves = "  \n".join(_half_life_words(label, one["half_life"]) for label, one in known.items())
    st.markdown(halves)
    st.caption(f"Over {figures['sentences']} development sentences; `{figures['command']}`.")


def download_norms(name: str, memories: dict[str, Memory]) -> None:
    """Offer all gradient norms of this sentence as a table; it is made when it is asked for."""
    st.download_button(
        "Gradient norms (.csv)",
        lambda: norms_table(memories).to_csv(index=False),
        "gradient_norms.csv",
        on_click="ignore",
        key=f"{name}_csv",
    )
