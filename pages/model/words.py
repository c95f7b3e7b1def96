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
from ui.model_runs import ALSO_FORGOTTEN, LatestRun, prepared_of, pretrained_of
from ui.player import StepLook, show_numbers
from ui.state import Field, component_message
from ui.words import chosen_piece, word_bars


def kept_in_words(made: Generation) -> str:
    """Return how large the keys and values are that a model keeps so as not to compute them again."""
    cache = cache_of(made)
    if cache is None:
        return "It hands out its weights alone: what it would keep is not known."
    n_tokens, most = len(made.ids), max_positions(made.pretrained)
    sentences = [
        f"The KV cache: **{in_units(cache.n_bytes)}** of keys and values for {format_count(n_tokens, 'tokens')}, in "
        f"{format_count(cache.n_layers * cache.n_key_heads, 'key heads')} of {format_count(cache.n_layers, 'layers')}."
    ]
    if cache.has_windows:
        sentences.append("Layers that look back over a window keep only that many tokens.")
    elif most:
        sentences.append(
            f"At the {most:,} tokens that the model knows: **{in_units(cache.n_bytes * most / n_tokens)}**."
        )
    if (saving := cache.n_query_heads / cache.n_key_heads) > 1:
        sentences.append(
            f"{cache.n_query_heads} query heads share {format_count(cache.n_key_heads, 'key heads')}: "
            f"**{saving:.3g} times less**."
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
WANTED = Field(NAME, "says_asked", 0)
"""Tokens that the model is still to write."""
_TEXTS = BoundedCache(max_items=8)
"""For all visitors; each keeps its model, too."""
ALSO_FORGOTTEN.append(_TEXTS.clear)


def generation_of(asked: LatestRun, ids: tuple[int, ...]) -> Generation:
    """Return a text as the model ran it, kept for everybody."""
    pretrained, source = pretrained_of(asked.key), {}
    if pretrained.kind is ModelKind.ENCODER_DECODER:  # its encoder is called with them
        inputs = prepared_of(*asked).inputs
        source = {name: inputs[name].to(pretrained.model.device) for name in ("input_ids", "attention_mask")}
    read = pretrained, asked.given if source else None, ids
    return run_once(_TEXTS, read, lambda: generate(pretrained, ids, source))


def given_ids(asked: LatestRun) -> tuple[int, ...]:
    inputs = prepared_of(*asked).inputs
    return tuple(inputs.get("decoder_input_ids", inputs["input_ids"])[0].tolist())


def text_ids(asked: LatestRun) -> tuple[int, ...]:
    """Return the tokens as the visitor left them; those of the input for another model or input than last time."""
    text, given = WRITING.value, given_ids(asked)
    if text.get("of") == LINKED and _fits(text, asked, given):
        text["of"] = _of(asked)
    elif text.get("of") != _of(asked):
        WRITING.preset(_nothing_written(asked, given))
    return tuple(WRITING.value["ids"])


def _nothing_written(asked: LatestRun, ids: tuple[int, ...]) -> dict[str, Any]:
    return {"of": _of(asked), "ids": list(ids), "n_given": len(ids), "at": None}


def _linked(parts: Any) -> dict[str, Any]:
    n_given, at, *ids = parts
    if not ids or not all(type(part) is int and part >= 0 for part in (n_given, at or 0, *ids)):
        raise ValueError("a text is the number of given tokens, the chosen one or nothing, and the tokens")
    return {"of": LINKED, "ids": ids, "n_given": min(n_given, len(ids)), "at": at}


def _fits(text: Mapping[str, Any], asked: LatestRun, given: tuple[int, ...]) -> bool:
    ids, n_given = text["ids"], text["n_given"]
    known = max(ids) < len(pretrained_of(asked.key).tokenizer) and len(ids) <= len(given) + WRITTEN_TOKENS.maximum
    return known and n_given <= len(given) and tuple(ids[:n_given]) == given[:n_given]


def _of(asked: LatestRun) -> str:
    return f"{asked.key} {hash(asked.given)}"


def position() -> int:
    """Return the token after which the expectation is shown, from 0: the last one unless another was chosen."""
    text = WRITING.value
    last = len(text["ids"]) - 1
    return last if text["at"] is None else min(text["at"], last)


def select_position(place: int) -> None:
    text = WRITING.value
    text["at"] = None if place >= len(text["ids"]) - 1 else place


def append_token(token: int, after: int) -> None:
    """Put a token behind another one and forget what came there; for callbacks."""
    _cut(after + 1)
    WRITING.value["ids"].append(token)


def back() -> None:
    _cut(max(len(WRITING.value["ids"]) - 1, 1))


def _cut(n: int) -> None:
    text = WRITING.value
    text |= {"ids": text["ids"][:n], "n_given": min(text["n_given"], n), "at": None}


def restart(asked: LatestRun) -> None:
    """Return to the input, or, where an encoder reads it, to nothing written; for callbacks."""
    start = given_ids(asked)
    written = start[:1] if pretrained_of(asked.key).kind is ModelKind.ENCODER_DECODER else start
    WRITING.value = _nothing_written(asked, written)


def why_ended(asked: LatestRun, ids: tuple[int, ...]) -> str:
    """Return why the model writes no further, in a sentence; empty if it can."""
    pretrained = pretrained_of(asked.key)
    if len(ids) > WRITING.value["n_given"] and ids[-1] in eos_tokens(pretrained):
        return f"The model said its end, {readable(pretrained.tokenizer, ids[-1:])[0]}: it has finished."
    return why_full(asked, ids)


def why_full(asked: LatestRun, ids: tuple[int, ...]) -> str:
    most = max_positions(pretrained_of(asked.key))
    if most is not None and len(ids) >= most:
        return f"The text fills the {most:,} positions that the model knows."
    if len(ids) >= len(given_ids(asked)) + WRITTEN_TOKENS.maximum:
        return (
            f"{format_count(len(ids) - WRITING.value['n_given'], 'tokens')} were written. This page writes no further."
        )
    return ""


_chips = component("token_chips", folder="pages/model")
N_EXPECTED = 10
SURE = 1.15  # equally likely tokens: one has about 98 % then
MAX_BITS = 12  # a token as surprising as one of 4,096 has the full shade


def next_tokens(asked: LatestRun) -> None:
    """Draw a text to write on, and what a model expects behind each of its tokens."""
    st.markdown("Click a token to say it, or let the model write.")
    _write_beside(asked, lambda made: _expectation(made, bool(why_full(asked, made.ids))))


def what_it_keeps(run: ModelRun, asked: LatestRun) -> None:
    """Draw how a trace grows while the model writes, and how large the keys and values are that it keeps for that."""
    _write_beside(asked, lambda made: _growing(run, made))


def _write_beside(asked: LatestRun, draw: Callable[[Generation], None]) -> None:
    """Draw a text that is written on, each token the likeliest, and beside it what is to be seen of it."""
    left, right = st.columns(2, gap="large")
    wanted, WANTED.value = WANTED.value, 0
    with left:
        try:
            made = generation_of(asked, text_ids(asked))
            for _ in range(wanted):
                if why_ended(asked, made.ids):
                    break
                append_token(int(made.logits[-1].argmax()), len(made.ids) - 1)
                made = generation_of(asked, text_ids(asked))
        except ModelError as error:
            st.info(error_markdown(error))
            return
        _text(made)
        _buttons(asked, made)
    with right:
        draw(made)


def _buttons(asked: LatestRun, made: Generation) -> None:
    end, ask = why_ended(asked, made.ids), WANTED.take
    with st.container(horizontal=True, gap="small", key="model_says_write_examples"):
        st.button("Next token", key="model_says_one", on_click=ask, args=(1,), disabled=bool(end), type="primary")
        more = f"{AT_ONCE} more"
        st.button(more, key="model_says_more", on_click=ask, args=(AT_ONCE,), disabled=bool(end))
        st.button("Back one", key="model_says_back", on_click=back, disabled=len(made.ids) < 2)
        st.button("Start again", key="model_says_restart", on_click=restart, args=(asked,))
    if end:
        st.caption(end)


def _text(made: Generation) -> None:
    """Draw the tokens, each as dark as it was surprising, the chosen one framed; a click chooses another."""
    expected_with = (f"expected with {percent(2**-bits)}, {bits:.1f} bits" for bits in made.bits)
    notes = ["the first token, which nothing expected", *expected_with]
    shares = [0.0, *(round(min(bits / MAX_BITS, 1.0), 4) for bits in made.bits)]
    key, label = "model_says_text_chips", "The text so far"
    hint = "Orange: a surprise. Click a token for what was expected after it."
    chosen, colour, given = position(), ROLE_COLOURS[Role.CONTEXT], WRITING.value["n_given"]
    picture = partial(shaded_words, made.tokens, shares, [colour] * len(shares), chosen=chosen)
    note_picture(picture, f"{label}. {hint}")

    def take() -> None:
        place = (component_message(key, "chosen") or {}).get("place")
        if isinstance(place, int):
            select_position(place)

    tokens = [
        {"text": text, "share": share, "note": note, "written": place >= given}
        for place, (text, share, note) in enumerate(zip(made.tokens, shares, notes, strict=True))
    ]
    data = {"tokens": tokens, "chosen": chosen, "colour": colour, "label": label, "hint": hint}
    _chips(key=key, data=data, default={"chosen": None}, on_chosen_change=take)


def _expectation(made: Generation, is_full: bool) -> None:
    """Draw the likeliest tokens after the chosen one; a click says one and forgets what came there."""
    place = position()
    found = expected(made.logits[place], made.pretrained.tokenizer, n=N_EXPECTED)
    follows = made.ids[place + 1] if place + 1 < len(made.ids) else None
    before = "".join(made.tokens[max(0, place - 4) : place + 1]).strip()
    st.markdown(f"After {literal(('… ' if place > 4 else '') + before)}")

    def take() -> None:
        picked = chosen_piece("model_says_expected")
        can_follow = not is_full or follows is not None
        if picked is not None and picked[1] == [place, len(made.ids)] and can_follow:
            append_token(picked[0], place)

    word_bars("model_says_expected", found.likeliest, [place, len(made.ids)], follows, take)
    st.caption(_rest(found) + ("" if follows is None else " Click another to go on from there."))


def _growing(run: ModelRun, made: Generation) -> None:
    """Draw the weights of the head that is looked at, or of the nearest that grow with the text."""
    now, names = chosen(run), made.recording.names
    wanted = run.groups[now.group][now.layer].story.name
    writing = [number for number, name in enumerate(names) if name.split(".")[0] != "encoder" or not run.target_tokens]
    number = next((number for number in writing if names[number] == wanted), writing[-1])
    trace, kind = made.recording[number], kind_of(names[number])
    head, look = min(now.head, trace.n_heads - 1), StepLook(trace.n_queries - 1, size=300)
    layer = sum(kind_of(name) == kind for name in names[:number])
    st.markdown(f"A row for each token: {head_name(kind, layer, head)}.")
    show_numbers(trace, masked_weights(trace, head), "model_says_growing", look, {"title": "Weights"})
    how = "The next token adds a row: one new query. Of the earlier ones the model needs only their keys and values."
    st.caption(f"{how}\n\n{kept_in_words(made)}")


def _rest(found: NextTokens) -> str:
    as_many = 2**found.entropy
    form = ",.0f" if as_many >= 2.95 else ".1f"
    unsure = f"As unsure as between {as_many:{form}} equally likely ones" if as_many >= SURE else "Almost sure"
    others = f"The other {found.n_remaining:,} tokens together" if found.n_remaining > 1 else "The other token"
    rest = f"{others}: {percent(found.remainder)}. " * (found.n_remaining > 0)
    return f"{rest}{unsure} ({found.entropy:.1f} bits)."
