"""The KV cache as a picture, its size, and what it spares."""

import streamlit as st

from attention_core.attention.types import Role
from attention_core.charts.cache import kept_chart
from attention_core.hub.cache import KeyValueCache, StepCost, kept, lengths_kept, measure_step
from attention_core.hub.generation import Generation
from attention_core.hub.model import ModelError
from ui.chart import draw_chart
from ui.job_queue import heavy
from ui.labels import said
from ui.layout import section
from ui.model.state import NAME
from ui.model.writing import generation_of, text_ids
from ui.runs.runs import LatestRun
from ui.state import Field, choice, one_of

KEPT_VECTORS = {"keys": "Keys", "values": "Values"}
VECTORS = Field(NAME, "says_kept", "keys", address="kept", parse=one_of(KEPT_VECTORS))
COST = Field[tuple[int, str, StepCost, StepCost] | None](NAME, "says_step_cost", None)
"""Tokens and model for which the next token was measured, its cost with the cache and without."""


def kv_cache(asked: LatestRun) -> None:
    """Draw what the model keeps of the text that it writes."""
    section("What it keeps: the KV cache")
    try:
        made = generation_of(asked, text_ids(asked))
    except ModelError as error:
        st.info(said(error))
        return
    found = kept(made)
    if found is None:
        st.markdown("Most models keep the keys and values of the text so far, and run only the newest token.")
        st.info(made.note)
        return
    st.markdown(
        "A column for each token. Its key and value never change again, in any layer. So they are kept, and the next "
        "token is compared with all of them."
    )
    left, right = st.columns(2, gap="large")
    with left:
        which = choice("Kept vectors", VECTORS, KEPT_VECTORS, label_visibility="collapsed")
        lengths, n_heads = lengths_kept(made, which), [layer.n_key_heads for layer in found.layers]
        role = Role.KEY if which == "keys" else Role.VALUE
        chart = kept_chart(lengths, n_heads, made.tokens, role=role, width=480, height=240)
        words = f"Lengths of the kept {which}: a row per layer and key head, a column per token; the newest framed"
        draw_chart(chart, width="content", alt=words)
    with right:
        st.markdown("\n\n".join(_sentences(found)))
        _measured(made)


def _sentences(found: KeyValueCache) -> list[str]:
    layer = found.layers[0]
    n_heads = sum(layer.n_key_heads for layer in found.layers)
    widths = f"{layer.d_k:,}" if layer.d_k == layer.d_v else f"{layer.d_k:,} and {layer.d_v:,}"
    lines = [
        f"**{_size(found.bytes_at(found.n_tokens))}** for {found.n_tokens:,} token{'s' * (found.n_tokens != 1)}: "
        f"{_size(found.bytes_per_token)} each, a key and a value of {widths} numbers in {n_heads:,} key heads of "
        f"{len(found.layers)} layers."
    ]
    if found.most_tokens:
        lines.append(
            f"At the {found.most_tokens:,} tokens that the model knows: **{_size(found.bytes_at(found.most_tokens))}** "
            "for each text that is being written."
        )
    if found.saving > 1:
        lines.append(
            f"{layer.n_query_heads} query heads share {layer.n_key_heads} key heads: **{found.saving:.3g} times less** "
            "than a key head for each query head."
        )
    if found.window is not None:
        some = sum(layer.window is not None for layer in found.layers)
        which = "Each layer keeps" if some == len(found.layers) else f"{some} of {len(found.layers)} layers keep"
        lines.append(f"{which} the last **{found.window:,}** tokens only: grey columns are forgotten.")
    if found.source_layers:
        lines.append(
            f"Besides, {_size(found.bytes_of_source)} for what the encoder read: computed once, the same for every "
            "step."
        )
    return lines


def _measured(made: Generation) -> None:
    if st.button("Measure the next token", key="model_says_measure_step", icon=":material/timer:"):
        with heavy("Measuring"):
            COST.value = len(made.ids), made.pretrained.name, *measure_step(made, made.ids[-1])
    if COST.value is None or COST.value[1] != made.pretrained.name:
        st.caption("Runs one more token, with the cache and without it, and takes the median of five runs of each.")
        return
    n_tokens, _, with_cache, without = COST.value
    st.markdown(
        f"After {n_tokens:,} tokens: **{1000 * with_cache.seconds:,.1f} ms** and "
        f"{_count(with_cache.n_multiplications)} multiply-adds with the cache, "
        f"**{1000 * without.seconds:,.1f} ms** and {_count(without.n_multiplications)} without: "
        f"{without.seconds / with_cache.seconds:.1f} times as long for "
        f"{without.n_multiplications / with_cache.n_multiplications:.1f} times the work."
    )
    why = "One token alone uses the processor less well than many at once."
    if without.seconds < 1.5 * with_cache.seconds:
        why = "With so few tokens in so small a model, nearly all the time goes into calls rather than multiplications."
    st.caption(f"Just measured here, without traces. {why}")


def _size(n_bytes: int) -> str:
    return _rounded(n_bytes, {"GB": 1e9, "MB": 1e6, "kB": 1e3}) or f"{n_bytes} bytes"


def _count(n: int) -> str:
    return _rounded(n, {"billion": 1e9, "million": 1e6}) or f"{n:,}"


def _rounded(n: int, units: dict[str, float]) -> str:
    return next((f"{n / size:.3g} {unit}" for unit, size in units.items() if n >= size), "")
