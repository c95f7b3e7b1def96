"""What a language model expects: the next token of a text that it writes on."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from attention_core.attention.types import Role
from attention_core.attention.wording import format_count, percent
from attention_core.charts.heads import masked_weights
from attention_core.charts.ramps import ROLE_COLOURS
from attention_core.charts.words import shaded_words
from attention_core.concurrency import BoundedCache
from attention_core.explain.heads import kind_of
from attention_core.hub.generation import Generation, cache_of, eos_tokens, generate, max_positions
from attention_core.hub.model import ModelError, ModelKind, in_units, readable
from attention_core.hub.outputs import NextTokens, expected
from attention_core.hub.run import ModelRun
from attention_core.links import pack, unpack
from pages.model.glance import NAME, chosen, head_name
from ui.chart import note_picture
from ui.component import component
from ui.hosting.bounds import WRITTEN_TOKENS
from ui.job_queue import run_once
from ui.labels import error_markdown, literal
from ui.model_runs import ALSO_FORGOTTEN, RunRequest, prepared_of, pretrained_of
from ui.player import StepStyle, show_numbers
from ui.state import Field, component_message
from ui.words import chosen_piece, word_bars


def describe_cache(generation: Generation) -> str:
    """Return how large the keys and values are that a model keeps so as not to compute them again."""
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
        sentences.append(
            f"At the {n_positions:,} tokens that the model knows: "
            f"**{in_units(cache.n_bytes * n_positions / n_tokens)}**."
        )
    if (saving := cache.n_query_heads / cache.n_key_heads) > 1:
        sentences.append(
            f"{cache.n_query_heads} query heads share {format_count(cache.n_key_heads, 'key heads')}: "
            f"**{saving:.3g} times less**."
        )
    crossed = [trace for trace in generation.recording.traces if kind_of(trace.story.name).endswith("decoder cross")]
    if n_bytes := sum(trace.key.nbytes + trace.value.nbytes for trace in crossed):
        sentences.append(
            f"And **{in_units(n_bytes)}** for the {format_count(crossed[0].n_keys, 'tokens')} that the encoder has "
            "read."
        )
    return " ".join(sentences)


AT_ONCE = 10  # tokens that one click asks for
WRITING = Field[dict[str, Any]](
    NAME,
    "says_writing",
    dict,
    address="written",
    parse=lambda text: _linked(unpack(text)),
    text=lambda text: pack([text["n_given"], text["at"], *text["ids"]]),
)
"""of: model and input; ids: the tokens; n_given: how many are the input's; at: the chosen one, or None; or {}."""
LINKED = ""  # in the place of model and input: a link says what was written, which is still to be compared with these
N_PENDING = Field(NAME, "says_asked", 0)
"""Tokens that the model is still to write."""
_TEXTS = BoundedCache(max_items=8)
"""For all visitors; each keeps its model, too."""
ALSO_FORGOTTEN.append(_TEXTS.clear)


def generation_of(request: RunRequest, ids: tuple[int, ...]) -> Generation:
    """Return a text as the model ran it, kept for everybody."""
    pretrained, source = pretrained_of(request.key), {}
    if pretrained.kind is ModelKind.ENCODER_DECODER:  # its encoder is called with them
        inputs = prepared_of(*request).inputs
        source = {name: inputs[name].to(pretrained.model.device) for name in ("input_ids", "attention_mask")}
    read = pretrained, request.model_input if source else None, ids
    return run_once(_TEXTS, read, lambda: generate(pretrained, ids, source))


def input_ids_of(request: RunRequest) -> tuple[int, ...]:
    inputs = prepared_of(*request).inputs
    return tuple(inputs.get("decoder_input_ids", inputs["input_ids"])[0].tolist())


def text_ids(request: RunRequest) -> tuple[int, ...]:
    """Return the tokens as the visitor left them; those of the input for another model or input than last time."""
    text, input_ids = WRITING.value, input_ids_of(request)
    if text.get("of") == LINKED and _fits(text, request, input_ids):
        text["of"] = _fingerprint(request)
    elif text.get("of") != _fingerprint(request):
        WRITING.set_default(_nothing_written(request, input_ids))
    return tuple(WRITING.value["ids"])


def _nothing_written(request: RunRequest, ids: tuple[int, ...]) -> dict[str, Any]:
    return {"of": _fingerprint(request), "ids": list(ids), "n_given": len(ids), "at": None}


def _linked(numbers: Any) -> dict[str, Any]:
    n_input, at, *ids = numbers
    if not ids or not all(type(number) is int and number >= 0 for number in (n_input, at or 0, *ids)):
        raise ValueError("a text is the number of given tokens, the chosen one or nothing, and the tokens")
    return {"of": LINKED, "ids": ids, "n_given": min(n_input, len(ids)), "at": at}


def _fits(text: Mapping[str, Any], request: RunRequest, input_ids: tuple[int, ...]) -> bool:
    ids, n_input = text["ids"], text["n_given"]
    has_tokens = max(ids) < len(pretrained_of(request.key).tokenizer)
    is_readable = has_tokens and len(ids) <= len(input_ids) + WRITTEN_TOKENS.maximum
    return is_readable and n_input <= len(input_ids) and tuple(ids[:n_input]) == input_ids[:n_input]


def _fingerprint(request: RunRequest) -> str:
    return f"{request.key} {hash(request.model_input)}"


def position() -> int:
    """Return the token after which the expectation is shown, from 0: the last one unless another was chosen."""
    text = WRITING.value
    last = len(text["ids"]) - 1
    return last if text["at"] is None else min(text["at"], last)


def select_position(index: int) -> None:
    text = WRITING.value
    text["at"] = None if index >= len(text["ids"]) - 1 else index


def append_token(token: int, after: int) -> None:
    """Put a token behind another one and forget what came there; for callbacks."""
    _cut(after + 1)
    WRITING.value["ids"].append(token)


def back() -> None:
    _cut(max(len(WRITING.value["ids"]) - 1, 1))


def _cut(n: int) -> None:
    text = WRITING.value
    text |= {"ids": text["ids"][:n], "n_given": min(text["n_given"], n), "at": None}


def restart(request: RunRequest) -> None:
    """Return to the input, or, where an encoder reads it, to nothing written; for callbacks."""
    start = input_ids_of(request)
    written = start[:1] if pretrained_of(request.key).kind is ModelKind.ENCODER_DECODER else start
    WRITING.value = _nothing_written(request, written)


def why_ended(request: RunRequest, ids: tuple[int, ...]) -> str:
    """Return why the model writes no further, in a sentence; empty if it can."""
    pretrained = pretrained_of(request.key)
    if len(ids) > WRITING.value["n_given"] and ids[-1] in eos_tokens(pretrained):
        return f"The model said its end, {readable(pretrained.tokenizer, ids[-1:])[0]}: it has finished."
    return why_full(request, ids)


def why_full(request: RunRequest, ids: tuple[int, ...]) -> str:
    n_positions = max_positions(pretrained_of(request.key))
    if n_positions is not None and len(ids) >= n_positions:
        return f"The text fills the {n_positions:,} positions that the model knows."
    if len(ids) >= len(input_ids_of(request)) + WRITTEN_TOKENS.maximum:
        return (
            f"{format_count(len(ids) - WRITING.value['n_given'], 'tokens')} were written. This page writes no further."
        )
    return ""


_chips = component("token_chips", folder="pages/model")
N_EXPECTED = 10
SURE = 1.15  # equally likely tokens: one has about 98 % then
MAX_BITS = 12  # a token as surprising as one of 4,096 has the full shade


def next_tokens(request: RunRequest) -> None:
    """Draw a text to write on, and what a model expects behind each of its tokens."""
    st.markdown("Click a token to say it, or let the model write.")
    _write_beside(request, lambda generation: _expectation(generation, bool(why_full(request, generation.ids))))


def growing_cache(run: ModelRun, request: RunRequest) -> None:
    """Draw how a trace grows while the model writes, and how large the keys and values are that it keeps for that."""
    _write_beside(request, lambda generation: _growing(run, generation))


def _write_beside(request: RunRequest, draw: Callable[[Generation], None]) -> None:
    """Draw a text that is written on, each token the likeliest, and beside it what is to be seen of it."""
    left, right = st.columns(2, gap="large")
    n_pending, N_PENDING.value = N_PENDING.value, 0
    with left:
        try:
            generation = generation_of(request, text_ids(request))
            for _ in range(n_pending):
                if why_ended(request, generation.ids):
                    break
                append_token(int(generation.logits[-1].argmax()), len(generation.ids) - 1)
                generation = generation_of(request, text_ids(request))
        except ModelError as error:
            st.info(error_markdown(error))
            return
        _text(generation)
        _buttons(request, generation)
    with right:
        draw(generation)


def _buttons(request: RunRequest, generation: Generation) -> None:
    reason = why_ended(request, generation.ids)

    def write(label: str, key: str, n_tokens: int, **style: Any) -> None:
        st.button(label, key=key, on_click=N_PENDING.set, args=(n_tokens,), disabled=bool(reason), **style)

    with st.container(horizontal=True, gap="small", key="model_says_write_examples"):
        write("Next token", "model_says_one", 1, type="primary")
        write(f"{AT_ONCE} more", "model_says_more", AT_ONCE)
        st.button("Back one", key="model_says_back", on_click=back, disabled=len(generation.ids) < 2)
        st.button("Start again", key="model_says_restart", on_click=restart, args=(request,))
    if reason:
        st.caption(reason)


def _text(generation: Generation) -> None:
    """Draw the tokens, each as dark as it was surprising, the chosen one framed; a click chooses another."""
    expected_with = (f"expected with {percent(2**-bits)}, {bits:.1f} bits" for bits in generation.bits)
    notes = ["the first token, which nothing expected", *expected_with]
    shares = [0.0, *(round(min(bits / MAX_BITS, 1.0), 4) for bits in generation.bits)]
    key, label = "model_says_text_chips", "The text so far"
    hint = "Orange: a surprise. Click a token for what was expected after it."
    chosen, colour, n_input = position(), ROLE_COLOURS[Role.CONTEXT], WRITING.value["n_given"]
    picture = partial(shaded_words, generation.tokens, shares, [colour] * len(shares), chosen=chosen)
    note_picture(picture, f"{label}. {hint}")

    def choose_token() -> None:
        index = (component_message(key, "chosen") or {}).get("place")
        if isinstance(index, int):
            select_position(index)

    tokens = [
        {"text": text, "share": share, "note": note, "written": index >= n_input}
        for index, (text, share, note) in enumerate(zip(generation.tokens, shares, notes, strict=True))
    ]
    data = {"tokens": tokens, "chosen": chosen, "colour": colour, "label": label, "hint": hint}
    _chips(key=key, data=data, default={"chosen": None}, on_chosen_change=choose_token)


def _expectation(generation: Generation, is_full: bool) -> None:
    """Draw the likeliest tokens after the chosen one; a click says one and forgets what came there."""
    index = position()
    likely = expected(generation.logits[index], generation.pretrained.tokenizer, n=N_EXPECTED)
    follows = generation.ids[index + 1] if index + 1 < len(generation.ids) else None
    before = "".join(generation.tokens[max(0, index - 4) : index + 1]).strip()
    st.markdown(f"After {literal(('… ' if index > 4 else '') + before)}")

    def write_token() -> None:
        choice = chosen_piece("model_says_expected")
        can_follow = not is_full or follows is not None
        if choice is not None and choice[1] == [index, len(generation.ids)] and can_follow:
            append_token(choice[0], index)

    word_bars("model_says_expected", likely.likeliest, [index, len(generation.ids)], follows, write_token)
    st.caption(_describe_uncertainty(likely) + ("" if follows is None else " Click another to go on from there."))


def _growing(run: ModelRun, generation: Generation) -> None:
    """Draw the weights of the head that is looked at, or of the nearest that grow with the text."""
    selection, names = chosen(run), generation.recording.names
    name = run.groups[selection.group][selection.layer].story.name
    writing = [number for number, name in enumerate(names) if name.split(".")[0] != "encoder" or not run.target_tokens]
    number = next((number for number in writing if names[number] == name), writing[-1])
    trace, kind = generation.recording[number], kind_of(names[number])
    head, view = min(selection.head, trace.n_heads - 1), StepStyle(trace.n_queries - 1, size=300)
    layer = sum(kind_of(name) == kind for name in names[:number])
    st.markdown(f"A row for each token: {head_name(kind, layer, head)}.")
    show_numbers(trace, masked_weights(trace, head), "model_says_growing", view, {"title": "Weights"})
    st.caption(
        "The next token adds a row: one new query. Of the earlier ones the model needs only their keys and values."
        f"\n\n{describe_cache(generation)}"
    )


def _describe_uncertainty(likely: NextTokens) -> str:
    n_alike = 2**likely.entropy
    form = ",.0f" if n_alike >= 2.95 else ".1f"
    unsure = f"As unsure as between {n_alike:{form}} equally likely ones" if n_alike >= SURE else "Almost sure"
    subject = f"The other {likely.n_remaining:,} tokens together" if likely.n_remaining > 1 else "The other token"
    remainder = f"{subject}: {percent(likely.remainder)}. " * (likely.n_remaining > 0)
    return f"{remainder}{unsure} ({likely.entropy:.1f} bits)."
