"""A text that a language model writes: what it expects after each token, and the cache that grows with it."""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st
import torch

from attention_core.attention.types import Role
from attention_core.attention.wording import fine_percent, format_count, percent
from attention_core.charts.heads import masked_weights
from attention_core.charts.overlay import overlay_strip
from attention_core.charts.ramps import ROLE_COLOURS
from attention_core.charts.words import shaded_words
from attention_core.concurrency import BoundedCache
from attention_core.device import to_array
from attention_core.explain.heads import kind_of
from attention_core.hub.generation import Generation, cache_of, eos_tokens, generate, max_positions, write_on
from attention_core.hub.model import ModelError, ModelKind, in_units, readable
from attention_core.hub.outputs import NextTokens, expected, token_text
from attention_core.hub.run import ModelInputs, ModelRun
from attention_core.links import pack, unpack
from pages.model.glance import NAME, chosen, head_name
from ui.chart import draw_chart, note_picture
from ui.component import component
from ui.hosting.bounds import WRITTEN_TOKENS
from ui.job_queue import run_once
from ui.labels import error_markdown, literal
from ui.model_runs import FORGET_CALLBACKS, RunRequest, prepared_of, pretrained_of
from ui.player import StepStyle, show_numbers
from ui.state import Field, component_message
from ui.words import chosen_token, token_bars


def describe_cache(generation: Generation) -> str:
    """Return sentences on how large a model's cache of keys and values is."""
    cache = cache_of(generation)
    if cache is None:
        return "It hands out its weights alone: what it would keep is not known."
    n_tokens, n_positions = len(generation.ids), max_positions(generation.pretrained)
    sentences = [
        f"The KV cache: **{in_units(cache.n_bytes)}** of keys and values for {format_count(n_tokens, 'tokens')}, in "
        f"{format_count(cache.n_layers * cache.n_key_heads, 'key heads')} of {format_count(cache.n_layers, 'layers')}."
    ]
    if cache.has_windows:
        sentences.append("Layers that look back over a window keep only that many tokens.")
    elif n_positions:
        size = in_units(cache.n_bytes * n_positions / n_tokens)
        sentences.append(f"At the {n_positions:,} tokens that the model knows: **{size}**.")
    if (saving := cache.n_query_heads / cache.n_key_heads) > 1:
        key_heads = format_count(cache.n_key_heads, "key heads")
        sentences.append(f"{cache.n_query_heads} query heads share {key_heads}: **{saving:.3g} times less**.")
    crossed = [trace for trace in generation.recording.traces if kind_of(trace.story.name).endswith("decoder cross")]
    if n_bytes := sum(trace.key.nbytes + trace.value.nbytes for trace in crossed):
        n_tokens_read = format_count(crossed[0].n_keys, "tokens")
        sentences.append(f"And **{in_units(n_bytes)}** for the {n_tokens_read} that the encoder has read.")
    return " ".join(sentences)


TOKENS_PER_CLICK = 10
WRITING = Field[dict[str, Any]](
    NAME,
    "says_writing",
    dict,
    address="written",
    parse=lambda text: _parse_numbers(unpack(text)),
    text=lambda writing: pack([writing["n_input"], writing["position"], *writing["ids"]]),
)
"""{}, or the fingerprint, the tokens' ids, of which n_input are the input's, the chosen position, None = the last."""
FROM_LINK = ""  # in place of a fingerprint: a link brought the text, which may not belong to the model and the input
N_PENDING = Field(NAME, "says_asked", 0)
"""Tokens that the model is still to write."""
_GENERATIONS = BoundedCache(max_items=8)
"""For all visitors; each generation holds its model, so free_models empties it."""
FORGET_CALLBACKS.append(_GENERATIONS.clear)


def generation_of(request: RunRequest, ids: tuple[int, ...]) -> Generation:
    """Return the model's run of a text of these tokens, cached for all visitors."""
    return _computed(generate, request, ids)


def _computed(compute: Callable[..., Any], request: RunRequest, ids: tuple[int, ...], *args: Any) -> Any:
    """Return what a function makes of a model, a text, further arguments, and what the model reads besides; cached."""
    pretrained, source = pretrained_of(request.model_key), {}
    if pretrained.kind is ModelKind.ENCODER_DECODER or request.model_input.png is not None:
        inputs = prepared_of(*request).inputs
        names = ["input_ids", "attention_mask"] if pretrained.kind is ModelKind.ENCODER_DECODER else [*inputs]
        source = {name: inputs[name].to(pretrained.model.device) for name in names}
    cache_key = compute, pretrained, request.model_input if source else None, ids, args
    return run_once(_GENERATIONS, cache_key, lambda: compute(pretrained, ids, *args, source))


def input_ids_of(request: RunRequest) -> tuple[int, ...]:
    """Return the tokens of the input that the model writes on: the decoder's, where there is an encoder."""
    inputs = prepared_of(*request).inputs
    return tuple(inputs.get("decoder_input_ids", inputs["input_ids"])[0].tolist())


def text_ids(request: RunRequest) -> tuple[int, ...]:
    """Return the tokens of the text; it begins again with the input where the model or the input is a new one."""
    writing, input_ids = WRITING.value, input_ids_of(request)
    if writing.get("fingerprint") == FROM_LINK and _continues_input(writing, request, input_ids):
        writing["fingerprint"] = _fingerprint(request)
    elif writing.get("fingerprint") != _fingerprint(request):
        WRITING.set_default(_unwritten(request, input_ids))
    return tuple(WRITING.value["ids"])


def _unwritten(request: RunRequest, ids: tuple[int, ...]) -> dict[str, Any]:
    return {"fingerprint": _fingerprint(request), "ids": list(ids), "n_input": len(ids), "position": None}


def _parse_numbers(numbers: Any) -> dict[str, Any]:
    n_input, position, *ids = numbers
    if not ids or not all(type(number) is int and number >= 0 for number in (n_input, position or 0, *ids)):
        raise ValueError("a text is the number of given tokens, the chosen one or nothing, and the tokens")
    return {"fingerprint": FROM_LINK, "ids": ids, "n_input": min(n_input, len(ids)), "position": position}


def _continues_input(writing: Mapping[str, Any], request: RunRequest, input_ids: tuple[int, ...]) -> bool:
    ids, n_input = writing["ids"], writing["n_input"]
    is_readable = max(ids) < len(pretrained_of(request.model_key).tokenizer)
    is_short = len(ids) <= len(input_ids) + WRITTEN_TOKENS.maximum
    return is_readable and is_short and n_input <= len(input_ids) and tuple(ids[:n_input]) == input_ids[:n_input]


def _fingerprint(request: RunRequest) -> str:
    return f"{request.model_key} {hash(request.model_input)}"


def chosen_position() -> int:
    """Return the position of the token after which the expectation is shown: the last unless another was chosen."""
    last, position = len(WRITING.value["ids"]) - 1, WRITING.value["position"]
    return last if position is None else min(position, last)


def choose_position(position: int) -> None:
    WRITING.value["position"] = None if position >= len(WRITING.value["ids"]) - 1 else position


def append_token(token: int, after: int) -> None:
    """Append a token to the text up to the position `after`, and drop what followed there; for callbacks."""
    _truncate(after + 1)
    WRITING.value["ids"].append(token)


def remove_last_token() -> None:
    _truncate(max(len(WRITING.value["ids"]) - 1, 1))


def _truncate(n_tokens: int) -> None:
    writing = WRITING.value
    writing |= {"ids": writing["ids"][:n_tokens], "n_input": min(writing["n_input"], n_tokens), "position": None}


def restart(request: RunRequest) -> None:
    """Return to the input or, where an encoder reads the input, to the first token; for callbacks."""
    input_ids = input_ids_of(request)
    has_encoder = pretrained_of(request.model_key).kind is ModelKind.ENCODER_DECODER
    WRITING.value = _unwritten(request, input_ids[:1] if has_encoder else input_ids)


def why_ended(request: RunRequest, ids: tuple[int, ...]) -> str:
    """Return why the model writes no further, in a sentence; empty if it can."""
    pretrained = pretrained_of(request.model_key)
    if len(ids) > WRITING.value["n_input"] and ids[-1] in eos_tokens(pretrained):
        return f"The model said its end, {readable(pretrained.tokenizer, ids[-1:])[0]}: it has finished."
    return why_full(request, ids)


def why_full(request: RunRequest, ids: tuple[int, ...]) -> str:
    n_positions, max_tokens = _lengths(request)
    if len(ids) >= n_positions:
        return f"The text fills the {n_positions:,} positions that the model knows."
    if len(ids) >= max_tokens:
        n_written = format_count(len(ids) - WRITING.value["n_input"], "tokens")
        return f"{n_written} were written. This page writes no further."
    return ""


def _lengths(request: RunRequest) -> tuple[int, int]:
    """Return how many tokens a text may have: as many as the model knows positions, and as this page allows."""
    n_positions = max_positions(pretrained_of(request.model_key))
    return n_positions or sys.maxsize, len(input_ids_of(request)) + WRITTEN_TOKENS.maximum


_chips = component("token_chips", folder="pages/model")
N_EXPECTED = 10
MIN_UNSURE = 1.15  # equally likely tokens, below which a model is almost sure: one token has about 98 %
MAX_TILED = 12  # words with a picture each, the last ones
MAX_BITS = 12  # a token as surprising as one of 4,096 has the full shade


def next_tokens(request: RunRequest) -> None:
    """Draw the text, and what the model expects after the chosen token."""
    st.markdown("Click a token to say it, or let the model write.")
    generation = _draw_writing(request, lambda text: _draw_expectation(text, bool(why_full(request, text.ids))))
    if generation is not None and generation.n_picture:
        _draw_tiles(prepared_of(*request), generation)


def growing_cache(run: ModelRun, request: RunRequest) -> None:
    """Draw how a trace grows while the model writes, and how large the keys and values are that it caches."""
    _draw_writing(request, lambda generation: _draw_growth(run, generation))


def written(request: RunRequest) -> Generation:
    """Let the model append its pending tokens, each the likeliest; return its run of the text."""
    n_pending, N_PENDING.value = N_PENDING.value, 0
    generation = generation_of(request, text_ids(request))
    if not n_pending or why_ended(request, generation.ids):
        return generation
    max_tokens = min(len(generation.ids) + n_pending, *_lengths(request))
    append_token(int(generation.logits[-1].argmax()), len(generation.ids) - 1)
    ids = text_ids(request)
    if len(ids) < max_tokens and not why_ended(request, ids):
        WRITING.value["ids"] = [*_computed(write_on, request, ids, max_tokens - len(ids))]
    return generation_of(request, text_ids(request))


def _draw_writing(request: RunRequest, draw_beside: Callable[[Generation], None]) -> Generation | None:
    """Draw the text, and beside it what is to be seen; returns the text, None if the model cannot run."""
    left, right = st.columns(2, gap="large")
    with left:
        try:
            generation = written(request)
        except ModelError as error:
            st.info(error_markdown(error))
            return None
        _draw_text(generation)
        _draw_buttons(request, generation)
    with right:
        draw_beside(generation)
    return generation


def _draw_tiles(prepared: ModelInputs, generation: Generation) -> None:
    """Draw the picture once for each word that the model wrote or would write next, with where it looked for it."""
    if prepared.tiles is None or prepared.picture is None:
        return
    (rows, columns), first = prepared.tiles
    asking = list(range(max(WRITING.value["n_input"], generation.n_picture) - 1, len(generation.ids)))[-MAX_TILED:]
    heads = [(trace, head) for trace in generation.layers for head in range(trace.n_heads)]
    tiles = list(range(first, first + rows * columns))
    maps = to_array(torch.stack([trace.weights(head, asking, tiles) for trace, head in heads]).mean(0))
    shares = [percent(share) for share in maps.sum(1).tolist()]
    tokens = [*generation.tokens, token_text(generation.pretrained.tokenizer, int(generation.logits[-1].argmax()))]
    labels = [f"{tokens[place + 1].strip(' ␣')} {share}" for place, share in zip(asking, shares, strict=True)]
    labels[-1] += ", next"
    alike = percent(len(tiles) / len(generation.ids))
    st.markdown(
        f"**Where it looked for each word**: mean over all {len(heads):,} heads. In per cent: how much of their weight "
        f"lies on the picture (everywhere alike for the next word: {alike})."
    )
    chart = overlay_strip(prepared.picture, maps.reshape(-1, rows, columns), labels, size=150, columns=6)
    draw_chart(chart, key="model_says_tiles", width="content", alt="The picture for each word, with where it looked")


def _draw_buttons(request: RunRequest, generation: Generation) -> None:
    reason = why_ended(request, generation.ids)

    def write(label: str, key: str, n_tokens: int, **style: Any) -> None:
        st.button(label, key=key, on_click=N_PENDING.set, args=(n_tokens,), disabled=bool(reason), **style)

    with st.container(horizontal=True, gap="small", key="model_says_write_examples"):
        write("Next token", "model_says_one", 1, type="primary")
        write(f"{TOKENS_PER_CLICK} more", "model_says_more", TOKENS_PER_CLICK)
        st.button(
            "Back one",
            key="model_says_back",
            on_click=remove_last_token,
            disabled=len(generation.ids) <= max(1, generation.n_picture),
        )
        st.button("Start again", key="model_says_restart", on_click=restart, args=(request,))
    if reason:
        st.caption(reason)


def _draw_text(generation: Generation) -> None:
    """Draw the tokens, each as dark as it was surprising, the chosen one framed; a click chooses another."""
    first = generation.n_picture
    expected_with = (f"expected with {fine_percent(2**-bits)}, {bits:.1f} bits" for bits in generation.bits)
    notes = ["the first token, which nothing expected", *expected_with]
    shades = [0.0, *(round(min(bits / MAX_BITS, 1.0), 4) for bits in generation.bits)]
    key, label = "model_says_text_chips", "The text so far"
    hint = "Orange: a surprise. Click a token for what was expected after it."
    position, colour, n_input = chosen_position(), ROLE_COLOURS[Role.CONTEXT], WRITING.value["n_input"]
    texts, text_shades = generation.tokens[first:], shades[first:]
    picture = partial(shaded_words, texts, text_shades, [colour] * len(texts), chosen=position - first)
    note_picture(picture, f"{label}. {hint}")

    def choose_token() -> None:
        clicked = (component_message(key, "chosen") or {}).get("place")
        if isinstance(clicked, int):
            choose_position(clicked + first)

    tokens = [
        {"text": text, "share": shade, "note": note, "written": index >= n_input}
        for index, (text, shade, note) in enumerate(zip(generation.tokens, shades, notes, strict=True))
    ]
    data = {"tokens": tokens[first:], "chosen": position - first, "colour": colour, "label": label, "hint": hint}
    _chips(key=key, data=data, default={"chosen": None}, on_chosen_change=choose_token)


def text_before(generation: Generation) -> str:
    """Return the text up to the chosen token, or its end, Markdown."""
    position = chosen_position()
    first = max(generation.n_picture, position - 4)
    before = "".join(generation.tokens[first : position + 1]).strip()
    return literal("… " * (first > generation.n_picture) + before)


def _draw_expectation(generation: Generation, is_full: bool) -> None:
    """Draw the likeliest tokens after the chosen one; a click appends one and drops what followed there."""
    position, n_tokens = chosen_position(), len(generation.ids)
    likely = expected(generation.logits[position], generation.pretrained.tokenizer, n=N_EXPECTED)
    next_id = generation.ids[position + 1] if position + 1 < n_tokens else None

    def write_token() -> None:
        choice = chosen_token("model_says_expected")
        has_room = not is_full or next_id is not None
        if choice is not None and choice[1] == [position, n_tokens] and has_room:  # else the bars are of another text
            append_token(choice[0], position)

    token_bars("model_says_expected", likely.likeliest, [position, n_tokens], next_id, write_token)
    st.caption(_describe_uncertainty(likely) + ("" if next_id is None else " Click another to go on from there."))


def _draw_growth(run: ModelRun, generation: Generation) -> None:
    """Draw the weights of the chosen head or, where its trace does not grow with the text, of the last that does."""
    selection, names = chosen(run), generation.recording.names
    chosen_name = run.groups[selection.group][selection.layer].story.name
    growing = [name for name in names if name.split(".")[0] != "encoder" or not run.target_tokens]
    index = names.index(chosen_name if chosen_name in growing else growing[-1])
    trace, group = generation.recording[index], kind_of(names[index])
    head, style = min(selection.head, trace.n_heads - 1), StepStyle(trace.n_queries - 1, size=300)
    layer = sum(kind_of(name) == group for name in names[:index])
    st.markdown(f"A row for each token: {head_name(group, layer, head)}.")
    show_numbers(trace, masked_weights(trace, head), "model_says_growing", style, {"title": "Weights"})


def _describe_uncertainty(likely: NextTokens) -> str:
    n_likely = 2**likely.entropy
    rounded = f"{n_likely:,.0f}" if n_likely >= 2.95 else f"{n_likely:.1f}"  # never "3.0"
    certainty = f"As unsure as between {rounded} equally likely ones" if n_likely >= MIN_UNSURE else "Almost sure"
    subject = f"The other {likely.n_remaining:,} tokens together" if likely.n_remaining > 1 else "The other token"
    remainder = f"{subject}: {percent(likely.remainder)}. " * (likely.n_remaining > 0)
    return f"{remainder}{certainty} ({likely.entropy:.1f} bits)."
