"""What a language model expects: the next token of a text that it writes on, or the word behind a mask."""

import math
from collections.abc import Sequence

import streamlit as st
from torch import Tensor

from attention_core.attention.edits import dropped
from attention_core.attention.types import Role
from attention_core.charts.bars import bars
from attention_core.charts.design import ROLE_COLOURS, weights_ramp
from attention_core.charts.heads import masked_weights
from attention_core.explain.heads.summary import groups, kind_of
from attention_core.hub.generation import Generation
from attention_core.hub.knock_out import Head
from attention_core.hub.language import NextTokens, expected, expected_in_place, pick, predicts_words, token_text
from attention_core.hub.model import ModelError, ModelKind
from attention_core.hub.run import ModelRun
from ui.chart import draw_chart
from ui.labels import distinct, literal, said
from ui.layout import section
from ui.model import writing
from ui.model.one_head import weights_chart
from ui.model.state import NAME, chosen, head_name, kept_with, portion, run_again, setting
from ui.model.token_component import Chip, chips, shaded
from ui.runs.runs import LatestRun, prepared_of, pretrained_of
from ui.state import Field, between, choice, one_of, whole_number
from ui.words import Bar, chosen_piece, word_bars

N_EXPECTED = 10
MOST_BITS = 12
"""A token as surprising as one of 4,096 has the full shade."""
SHADES = {"surprise": "Surprise", "weights": "Weights of the chosen head"}
SHADE = Field(NAME, "says_shade", "surprise", address="shade", parse=one_of(SHADES))
WAYS = {"likeliest": "The likeliest", "drawn": "Drawn by chance"}
WAY = Field(NAME, "says_way", "likeliest", address="way", parse=one_of(WAYS))
TEMPERATURE = Field(NAME, "says_temperature", 1.0, address="temperature", parse=between(0.1, 2.0))
SEED = Field(NAME, "says_seed", 0, address="seed", parse=between(0, 9999))
HIDDEN_WORD = Field[int | None](NAME, "hidden_word", None, address="hidden_word", parse=whole_number)


def next_tokens(run: ModelRun, asked: LatestRun) -> None:
    """Draw what suits the model: a text to write on, the word it expects behind a mask, or that it has no such head."""
    pretrained = pretrained_of(asked.key)
    if not predicts_words(pretrained):
        section("What it expects")
        st.info(f"{pretrained.name} has no head that expects words: its last layer is what it hands out.")
    elif pretrained.kind is ModelKind.ENCODER:
        _hidden_word(run, asked)
    else:
        _generation(run, asked)


def _generation(run: ModelRun, asked: LatestRun) -> None:
    section("What comes next")
    st.markdown(
        "The model gives every token a probability of coming next. Click one to say it, or let the model write."
    )
    left, middle, right = st.columns([1.05, 0.95, 1.05], gap="large")
    with left:
        text, buttons = st.container(), st.container()
        temperature, seed = _settings()
    try:
        _write_portion(asked, temperature, seed)
        made = writing.generation_of(asked, writing.text_ids(asked))
    except ModelError as error:
        st.info(said(error))
        return
    with text:
        _text(run, made)
    with buttons:
        _buttons(asked, made, temperature, seed)
    with middle:
        _expectation(made, temperature, is_full=bool(writing.why_full(asked, made.ids)))
    with right:
        _growing(run, made)
    if writing.WANTED.value and not run_again():
        writing.stop()


def _settings() -> tuple[float, int]:
    """Return temperature (0 = the likeliest) and seed as a person chose them."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        if choice("It says", WAY, WAYS) != "drawn":
            return 0.0, 0
        TEMPERATURE.widget(st.slider, "Temperature", 0.1, 2.0, step=0.1, width=150)
        SEED.widget(st.number_input, "Seed", 0, 9999, width=100)
    return float(TEMPERATURE.value), int(SEED.value)


def _write_portion(asked: LatestRun, temperature: float, seed: int) -> None:
    for _ in portion():
        ids = writing.text_ids(asked)
        if writing.WANTED.value <= 0 or writing.why_ended(asked, ids):
            writing.stop()
            return
        made = writing.generation_of(asked, ids)
        writing.say(pick(made.next_logits, temperature=temperature, seed=seed, place=len(ids)), len(ids) - 1)
        writing.WANTED.value -= 1


def _buttons(asked: LatestRun, made: Generation, temperature: float, seed: int) -> None:
    end = writing.why_ended(asked, made.ids)
    ask = setting(writing.WANTED)
    with st.container(horizontal=True, gap="small", key="model_says_write_examples"):
        st.button("Next token", key="model_says_one", on_click=ask, args=(1,), disabled=bool(end), type="primary")
        if writing.WANTED.value:
            st.button("Stop", key="model_says_stop", on_click=writing.stop)
        else:
            more = f"{writing.AT_ONCE} more"
            st.button(more, key="model_says_more", on_click=ask, args=(writing.AT_ONCE,), disabled=bool(end))
        st.button("Back one", key="model_says_back", on_click=writing.back, disabled=len(made.ids) < 2)
        st.button("Start again", key="model_says_restart", on_click=writing.restart, args=(asked,))
    if end:
        st.caption(end)
    elif temperature:
        upcoming = pick(made.next_logits, temperature=temperature, seed=seed, place=len(made.ids))
        text = token_text(made.pretrained.tokenizer, upcoming)
        st.caption(f"Seed {seed} draws {literal(text)} next; the same seed draws the same text again.")


def _text(run: ModelRun, made: Generation) -> None:
    shade = choice("Shade", SHADE, SHADES)
    place, n_given = writing.position(), writing.WRITING.value["n_given"]
    hint = "Click a token to see what was expected after it."
    shown = _surprising(made, n_given)
    if shade == "weights":
        number, head = _growing_head(run, made)
        trace = made.trace(number)
        weights = trace.weights(head, [place])[0].tolist()
        hint = f"{_head_words(made, number, head)}: what {made.tokens[place].strip()}, the framed token, looks at."
        if trace.n_keys == len(made.ids):
            shown = _weighed(made.tokens, weights, n_given)
        else:
            read, source = "What the encoder read", _weighed(trace.story.key_axis.labels, weights)
            chips("model_says_source_chips", source, label=read, hint=f"{read}.")
    chips("model_says_text_chips", shown, chosen=place, label="The text so far", hint=hint, on_choose=writing.look_at)


def _surprising(made: Generation, n_given: int) -> list[Chip]:
    expected_with = (f"expected with {_percent(2**-bits)}, {bits:.1f} bits" for bits in made.bits)
    notes = ["the first token, which nothing expected", *expected_with]
    return shaded(made.tokens, [0, *made.bits], notes, Role.CONTEXT, most=MOST_BITS, n_given=n_given)


def _weighed(tokens: Sequence[str], weights: list[float], n_given: int = 0) -> list[Chip]:
    notes = [f"weight {weight:.3f}" for weight in weights]
    return shaded(tokens, weights, notes, Role.WEIGHTS, most=max(weights) or 1.0, n_given=n_given or None)


def _expectation(made: Generation, temperature: float, *, is_full: bool) -> None:
    """Draw the likeliest tokens after the chosen one; a click says one and forgets what came there."""
    place = writing.position()
    found = expected(made.logits_at(place), made.pretrained.tokenizer, n=N_EXPECTED, temperature=temperature or 1.0)
    follows = made.ids[place + 1] if place + 1 < len(made.ids) else None
    before = "".join(made.tokens[max(0, place - 4) : place + 1]).strip()
    st.markdown(f"After {literal(('… ' if place > 4 else '') + before)}")

    def take() -> None:
        picked = chosen_piece("model_says_expected")
        can_follow = not is_full or follows is not None
        if picked is not None and picked[1] == [place, len(made.ids)] and can_follow:
            writing.stop()
            writing.say(picked[0], place)

    shown = [Bar(token.id, token.text, token.probability) for token in found.likeliest]
    word_bars("model_says_expected", shown, [place, len(made.ids)], follows, take)
    st.caption(_rest(found) + ("" if follows is None else " Click another than the text has to go on from there."))


def _growing(run: ModelRun, made: Generation) -> None:
    number, head = _growing_head(run, made)
    trace, words = made.trace(number), _head_words(made, number, head)
    n_rows, last = trace.n_queries, f"{1000 * made.seconds[-1]:,.0f} ms, with the trace"
    section("How its trace grows")
    st.markdown(f"A row for each token: {words}.")
    values, ramp = masked_weights(trace, head), weights_ramp(trace.n_keys)
    draw_chart(
        weights_chart(trace, values, n_rows - 1, title="weight", size=300, ramp=ramp),
        key=f"model_says_growing_{number}_{head}_{n_rows}",
        width="content",
        alt=f"Weights of {words}, of the text so far; the newest row is framed",
    )
    if len(made.seconds) == 1:
        how = f"{n_rows} rows, computed at once in {last}. The next token will add one row."
    elif not made.uses_cache:
        how = f"All {n_rows} rows were computed again for the last token, in {last}."
    else:
        how = (
            f"The last token ran alone in {last}: one new query, a new row, over the keys that the model had kept. The "
            f"first {made.n_prompt} tokens ran together in {1000 * made.seconds[0]:,.0f} ms. The grown matrix is the "
            "one of the whole text run at once."
        )
    st.caption(how)


def _growing_head(run: ModelRun, made: Generation) -> tuple[int, int]:
    """Return the trace, by its number, and the head that are looked at; the nearest that grow with the text."""
    now, names = chosen(run), made.first.names
    wanted = groups(run.recording)[now.group][now.layer].story.name
    writing = [number for number, name in enumerate(names) if name.split(".")[0] != "encoder" or not made.source]
    number = next((number for number in writing if names[number] == wanted), writing[-1])
    return number, min(now.head, made.first.traces[number].n_heads - 1)


def _head_words(made: Generation, number: int, head: int) -> str:
    kind = kind_of(made.first.names[number])
    return head_name(kind, sum(kind_of(name) == kind for name in made.first.names[:number]), head)


def _hidden_word(run: ModelRun, asked: LatestRun) -> None:
    section("What it expects")
    st.markdown("Choose a token: it is hidden behind a mask, and the model says what should stand there.")
    place = hidden_place(run, asked)
    left, right = st.columns([1.1, 1], gap="large")
    with left:
        n_tokens = len(run.tokens)
        shown = shaded(run.tokens, [0] * n_tokens, ["click to hide it"] * n_tokens, Role.OUTPUT)
        hint, hide = "Click a token to hide it.", setting(HIDDEN_WORD)
        chips("model_hidden_word_chips", shown, chosen=place, label="The input", hint=hint, on_choose=hide)
    with right:
        try:
            found = expected(hidden_logits(run, asked, place), pretrained_of(asked.key).tokenizer, n=N_EXPECTED)
        except ModelError as error:
            st.info(said(error))
            return
        _, texts, shares = zip(*found.likeliest, strict=True)
        look = {"title": "probability", "colour": ROLE_COLOURS[Role.OUTPUT], "height": 26 * len(texts)}
        words = "The tokens that the model expects at the hidden place"
        draw_chart(bars(shares, distinct(texts), **look), key="model_hidden_word_bars", alt=words)
        st.caption(_rest(found))


def hidden_place(run: ModelRun, asked: LatestRun) -> int:
    """Return the token to hide, from 0: the one that was chosen, else the first mask in the text, else the middle."""
    ids = prepared_of(*asked).inputs["input_ids"][0].tolist()
    mask = pretrained_of(asked.key).tokenizer.mask_token_id
    words = [place for place in range(len(ids)) if place not in run.special] or [0]
    place = HIDDEN_WORD.value
    if place is None:
        place = ids.index(mask) if mask in ids else words[len(words) // 2]
    return min(place, len(ids) - 1)


def hidden_logits(run: ModelRun, asked: LatestRun, place: int, off: tuple[Head, ...] = ()) -> Tensor:
    """Return the logits (n_tokens,) of what a model expects at a place that is hidden from it, without some heads."""
    pretrained = pretrained_of(asked.key)
    inputs = {name: value.to(pretrained.model.device) for name, value in prepared_of(*asked).inputs.items()}

    def compute() -> Tensor:
        return expected_in_place(pretrained, inputs, place, edits=dropped(off)).float().cpu()

    return kept_with(run, ("hidden word", place, off), compute)


def _rest(found: NextTokens) -> str:
    as_many = 2**found.entropy
    unsure = f"As unsure as between {as_many:,.0f} equally likely ones" if as_many >= 1.95 else "Almost sure"
    return f"The other {found.n_rest:,} tokens together: {_percent(found.rest)}. {unsure} ({found.entropy:.1f} bits)."


def _percent(share: float) -> str:
    if not math.isfinite(share):
        return "nothing"
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}" if share >= 0.0005 else "under 0.1%"
