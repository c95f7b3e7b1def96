"""The KV cache as a picture, its size, and what it spares."""

from __future__ import annotations

import streamlit as st

from attention_core.attention.types import Role
from attention_core.charts.language import kept_chart
from attention_core.hub.cache import Kept, StepCost, kept, lengths_kept, measure_step
from attention_core.hub.generation import Generation
from ui.layout import section
from ui.models import COMPUTE


def kv_cache(made: Generation, name: str) -> None:
    """Draw what the model keeps of a text; part of the fragment in which the text grows.

    Args:
        made: the text.
        name: prefix of the section's state.
    """
    section("What it keeps: the KV cache")
    found = kept(made)
    if found is None:
        st.markdown("Most models keep the keys and values of the text so far, and run only the newest token.")
        st.info(made.note)
        return
    st.markdown(
        "A column for each token: its key and value in every layer never change again, so they are kept, and the next "
        "token is compared with all of them."
    )
    what = st.segmented_control(
        "Kept vectors",
        ["keys", "values"],
        default="keys",
        key=f"{name}_says_kept",
        required=True,
        format_func=str.capitalize,
        persist_state="session",
        label_visibility="collapsed",
    )
    with st.container(key=f"{name}_says_kept_picture"):
        st.altair_chart(
            kept_chart(
                lengths_kept(made, what),
                [layer.n_key_heads for layer in found.layers],
                made.tokens,
                role=Role.KEY if what == "keys" else Role.VALUE,
                width=480,
                height=240,
            ),
            width="content",
            alt=f"Lengths of the kept {what}: a row per layer and key head, a column per token; the newest framed",
        )
    st.markdown("\n\n".join(_sentences(found)))
    _measured(made, name)


def _sentences(found: Kept) -> list[str]:
    layer = found.layers[0]
    n_heads = sum(one.n_key_heads for one in found.layers)
    widths = f"{layer.d_k:,}" if layer.d_k == layer.d_v else f"{layer.d_k:,} and {layer.d_v:,}"
    lines = [
        f"**{size(found.bytes_now)}** for {found.n_tokens:,} {'token' if found.n_tokens == 1 else 'tokens'}: "
        f"{size(found.bytes_per_token)} each, a key and a value of {widths} numbers in {n_heads:,} key heads of "
        f"{len(found.layers)} layers."
    ]
    if found.most_tokens:
        lines.append(
            f"At the {found.most_tokens:,} tokens that the model knows: **{size(found.bytes_at(found.most_tokens))}** "
            "for each text that is being written."
        )
    if found.saving > 1:
        lines.append(
            f"{layer.n_query_heads} query heads share {layer.n_key_heads} key heads: **{found.saving:.3g} times less** "
            "than a key head for each query head."
        )
    if found.window is not None:
        some = sum(one.window is not None for one in found.layers)
        which = "Each layer" if some == len(found.layers) else f"{some} of {len(found.layers)} layers"
        verb = "keeps" if which == "Each layer" else "keep"
        lines.append(f"{which} {verb} the last **{found.window:,}** tokens only: grey columns are forgotten.")
    if found.source_layers:
        lines.append(
            f"Besides, {size(found.bytes_of_source)} for what the encoder read: computed once, the same for every step."
        )
    return lines


def _measured(made: Generation, name: str) -> None:
    """Measure what the next token costs with the cache and without, when asked."""
    state = f"{name}_says_step_cost"
    token = made.ids[-1]
    if st.button("Measure the next token", key=f"{name}_says_measure_step", icon=":material/timer:"):
        with COMPUTE, st.spinner("Measuring"):
            costs = measure_step(made, token)
        st.session_state[state] = [len(made.ids), made.pretrained.name, *map(list, costs)]
    measured = st.session_state.get(state)
    if measured is None or measured[1] != made.pretrained.name:
        st.caption("Runs one more token, with the cache and without it, and takes the median of five runs of each.")
        return
    with_cache, without = StepCost(*measured[2]), StepCost(*measured[3])
    st.markdown(
        f"After {measured[0]:,} tokens: **{1000 * with_cache.seconds:,.1f} ms** and "
        f"{_count(with_cache.n_multiplications)} multiply-adds with the cache, "
        f"**{1000 * without.seconds:,.1f} ms** and {_count(without.n_multiplications)} without: "
        f"{without.seconds / with_cache.seconds:.1f} times as long for "
        f"{without.n_multiplications / with_cache.n_multiplications:.1f} times the work."
    )
    small = without.seconds < 1.5 * with_cache.seconds
    st.caption(
        "Just measured here, without traces. "
        + (
            "With so few tokens in so small a model, nearly all the time goes into calls rather than multiplications."
            if small
            else "One token alone uses the processor less well than many at once."
        )
    )


def size(n_bytes: int) -> str:
    """Return bytes for people, in steps of 1,000."""
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= step:
            return f"{n_bytes / step:.3g} {unit}"
    return f"{n_bytes} bytes"


def _count(n: int) -> str:
    for unit, step in (("billion", 1e9), ("million", 1e6)):
        if n >= step:
            return f"{n / step:.3g} {unit}"
    return f"{n:,}"
