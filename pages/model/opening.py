"""What the page opens on: which token looks at which, over the sentence, and what one other word does to that."""

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.wording import percent
from attention_core.explain.heads import is_self_attention
from attention_core.hub.catalogue import PACKAGE
from attention_core.hub.model import ModelKind
from attention_core.hub.run import ModelRun, TextInput, special_keys
from pages.model.glance import NAME, Selection, chosen_layers, is_off
from pages.model.heads import SECOND_TEXT
from pages.model.input import ENGLISH, TEXT
from pages.model.one_head import token_view
from pages.model.scene import draw_head_scene, fits_scene
from ui.labels import error_markdown
from ui.model_runs import RunRequest, run_of
from ui.try_this import NOT_TRIED, TRY_STAGE, TryThis, is_answered, try_this

FIRST_TEXT = ENGLISH["Who was tired?"]
QUERY_WORD, CANDIDATES = "it", ("animal", "street", "[CLS]")
SHORT_VALUE = 2  # times shorter than the others' is a value that hands over almost nothing
OPTIONS = {"street": 0, "animal": 1, "[CLS]": 2}
EMPTY = "·"  # in the place of a token of spaces alone, which nothing could emphasise


def headline(run: ModelRun, unchanged: ModelRun) -> None:
    """Say which class a classifier finds, and where the chosen token looks most if no scene does.

    The run is as it is with the page's edits, `unchanged` without; one object where there are none.
    """
    if run.classes:
        first, *others = describe_classes(run)
        before = f"; before the change {describe_classes(unchanged)[0]}" if run is not unchanged else ""
        verb = "sees" if run.kind is ModelKind.VISION else "says"
        st.markdown(f"#### It {verb} {first} :small[:gray[then {', '.join(others)}{before}]]")
    selection, layers = chosen_layers(run)
    trace = layers[selection.layer]
    if is_off(trace, selection.head):
        query_label = error_markdown(trace.story.query_axis.labels[selection.query].strip() or EMPTY)
        st.markdown(f"##### This head is switched off: *{query_label}* takes nothing from it")
    elif not fits_scene(run, trace, selection.head):
        st.markdown(f"##### {describe_look(run, trace, selection)}")
    if run is not unchanged:
        layer = "This" if trace.edits else "Another"
        st.caption(f"{layer} layer's attention is changed by hand in *What if a head is switched off?*")


def describe_classes(run: ModelRun) -> list[str]:
    """Return the likeliest classes of a classifier's run, each with its probability, Markdown."""
    likeliest = sorted(run.classes, key=lambda label: -label.probability)[:3]
    return [f"*{error_markdown(label.name)}*: {percent(label.probability)}" for label in likeliest]


def opening(run: ModelRun, request: RunRequest | None, is_changed: bool) -> None:
    """Show where the chosen token looks over the text; beside it, if one word is another, where it looked before."""
    selection, layers = chosen_layers(run)
    trace = layers[selection.layer]
    if fits_scene(run, trace, selection.head):
        query, before = min(selection.query, trace.n_queries - 1), None
        if _package_text(request) == SECOND_TEXT and run.tokens[query] == QUERY_WORD and not is_changed:
            before = _first_weights(selection)
        draw_head_scene(trace, selection.head, query, before)
    else:
        token_view(run, trace, selection.head)
    marks = dict.fromkeys(run.tokens[position] for position in sorted(run.sinks))
    if marks:
        with st.container(key="desk_model_marks"):
            names = ", ".join(map(error_markdown, marks))
            st.caption(f"{names}: {_describe_special_tokens(run)}. A large weight is not yet understanding.")


def surprise(run: ModelRun, request: RunRequest | None) -> None:
    """Offer to change a word of the first example, and tell what comes of it."""
    text, tried = _package_text(request), TRY_STAGE[NAME]
    if text == FIRST_TEXT and is_answered(NAME):
        tried.reset()  # its answer is about the other text
    if text == FIRST_TEXT or (text == SECOND_TEXT and tried.value != NOT_TRIED):
        selection, layers = chosen_layers(run)
        try_this(NAME, _surprise(run, layers[selection.layer], selection))


def _package_text(request: RunRequest | None) -> str:
    """Return the text that the model which comes along reads; "" where another one reads, or more than a text."""
    model_input = request.model_input if request is not None and request.model_key == PACKAGE else None
    return model_input.text if isinstance(model_input, TextInput) and model_input == TextInput(model_input.text) else ""


def describe_look(run: ModelRun, trace: AttentionTrace, selection: Selection) -> str:
    """Return at which word the chosen query of a head looks most, Markdown without a full stop."""
    weights = trace.weights(selection.head, [selection.query])[0].tolist()
    label = error_markdown(trace.story.query_axis.labels[selection.query].strip() or EMPTY)
    return f"*{label}* looks at {describe_strongest_keys(run, trace, weights, selection.query)}"


def describe_strongest_keys(run: ModelRun, trace: AttentionTrace, weights: list[float], query: int) -> str:
    """Return the word with most of a query's weights, and whether itself or a mark has more, Markdown."""
    excluded = special_keys(run, trace) | ({query} if is_self_attention(trace) else set())
    if trace.n_keys == len(run.tokens):
        excluded |= run.sinks
    if is_self_attention(trace) and query in run.sinks:
        excluded = frozenset()
    candidates = [position for position, weight in enumerate(weights) if weight and position not in excluded]
    strongest = max(candidates or range(len(weights)), key=weights.__getitem__)
    names = {
        position: error_markdown(trace.story.key_axis.labels[position].strip() or EMPTY)
        for position in (strongest, *excluded)
    }
    sentence = f"*{names[strongest]}*: {percent(weights[strongest])}" if any(weights) else "nothing"
    for position in sorted(excluded):
        if weights[position] > weights[strongest]:
            name = "itself" if position == query and is_self_attention(trace) else names[position]
            sentence += f", more at {name}: {percent(weights[position])}"
    return sentence


def _describe_special_tokens(run: ModelRun) -> str:
    """Say what the tokens of a run are that are called special."""
    if run.patch_grid is not None:
        return "no part of the picture, but put beside its patches by the model"
    if run.kind is ModelKind.DECODER:
        return "often where heads look that find nothing, since every token sees the first one"
    return "marks that the model adds before or after every text"


def _weights(run: ModelRun, selection: Selection) -> list[float]:
    trace = run.groups[selection.group][selection.layer]
    return trace.weights(selection.head, [run.tokens.index(QUERY_WORD)])[0].tolist()


def _first_weights(selection: Selection) -> list[float]:
    return _weights(run_of(PACKAGE, TextInput(FIRST_TEXT)), selection)


def _moved_shares(run: ModelRun, selection: Selection) -> str:
    before, after = _first_weights(selection), _weights(run, selection)
    places = {word: run.tokens.index(word) for word in CANDIDATES}
    return ", ".join(f"*{word}*: {before[place]:.0%} → {after[place]:.0%}" for word, place in places.items())


def _surprise(run: ModelRun, trace: AttentionTrace, selection: Selection) -> TryThis:

    def act() -> None:
        TEXT[NAME, ModelKind.ENCODER].value = SECOND_TEXT

    def outcome() -> tuple[int, str]:
        weights = trace.weights(selection.head, [run.tokens.index(QUERY_WORD)])[0]
        most = run.tokens[int(weights.argmax())]
        lengths = trace.value_of(selection.head).float().norm(dim=-1)
        times, reason = float(lengths[1:].mean() / lengths[0].clamp_min(1e-9)), ""
        if most == run.tokens[0] and times >= SHORT_VALUE:
            reason = f" It takes almost nothing: {most} has a value vector {times:.0f} times shorter than the mean."
        return OPTIONS.get(most, -1), f"{_moved_shares(run, selection)}.{reason}"

    return TryThis(
        "*wide* instead of *tired*",
        "Say *wide* instead of *tired*: *it* is now the street. Where does this head look?",
        ("Most at the street", "Still most at the animal", "More at [CLS], the mark before every text"),
        act,
        outcome,
        "model_opening",
    )
