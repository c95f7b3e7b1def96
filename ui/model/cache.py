"""The KV cache as a picture, its size, and what it spares."""

import streamlit as st

from attention_core.attention.types import Role
from attention_core.charts.heads import cache_chart
from attention_core.hub.cache import MEASURED_ON, STEP_COSTS, KeyValueCache, cache_of, vector_lengths
from attention_core.hub.model import ModelError, in_units
from ui.chart import draw_chart
from ui.labels import error_markdown
from ui.layout import section
from ui.model.glance import NAME
from ui.model.words import generation_of, text_ids
from ui.model_runs import LatestRun
from ui.state import Field, one_of, single_choice

KEPT_VECTORS = {"keys": "Keys", "values": "Values"}
VECTORS = Field(NAME, "says_kept", "keys", address="kept", parse=one_of(KEPT_VECTORS))


def kv_cache(asked: LatestRun) -> None:
    """Draw what the model keeps of the text that it writes."""
    section("What it keeps: the KV cache")
    try:
        made = generation_of(asked, text_ids(asked))
    except ModelError as error:
        st.info(error_markdown(error))
        return
    found = cache_of(made)
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
        which = single_choice("Kept vectors", VECTORS, KEPT_VECTORS, label_visibility="collapsed")
        lengths, n_heads = vector_lengths(made, which), [layer.n_key_heads for layer in found.layers]
        role = Role.KEY if which == "keys" else Role.VALUE
        chart = cache_chart(lengths, n_heads, made.tokens, role=role, width=480, height=240)
        words = f"Lengths of the kept {which}: a row per layer and key head, a column per token; the newest framed"
        draw_chart(chart, width="content", alt=words)
    with right:
        st.markdown("\n\n".join(_sentences(found)))
        _cost_of_a_step()


def _sentences(found: KeyValueCache) -> list[str]:
    layer = found.layers[0]
    n_heads = sum(layer.n_key_heads for layer in found.layers)
    widths = f"{layer.d_k:,}" if layer.d_k == layer.d_v else f"{layer.d_k:,} and {layer.d_v:,}"
    lines = [
        f"**{in_units(found.bytes_at(found.n_tokens))}** for {found.n_tokens:,} token{'s' * (found.n_tokens != 1)}: "
        f"{in_units(found.bytes_per_token)} each, a key and a value of {widths} numbers in {n_heads:,} key heads of "
        f"{len(found.layers)} layers."
    ]
    if found.most_tokens:
        most = in_units(found.bytes_at(found.most_tokens))
        lines.append(
            f"At the {found.most_tokens:,} tokens that the model knows: **{most}** for each text that is being written."
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
            f"Besides, {in_units(found.bytes_of_source)} for what the encoder read: computed once, the same for every "
            "step."
        )
    return lines


def _cost_of_a_step() -> None:
    """Tell what a step costs with the cache and without it, as it was measured once."""
    lines = ["| tokens | with the cache | without | times as long | times the work |", "|--:|--:|--:|--:|--:|"]
    for n_tokens, (own, whole), works in STEP_COSTS:
        more = f"{whole / own:.2g} | {works[1] / works[0]:,.0f}"
        lines.append(f"| {n_tokens:,} | {own:,} ms | {whole:,} ms | {more} |")
    st.markdown("\n".join(lines))
    st.caption(
        f"The next token, measured beforehand and without traces: {MEASURED_ON}; the work is multiply-adds. One token "
        "alone uses a processor less well than many at once."
    )
