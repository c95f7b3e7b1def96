"""What the page opens on: which token looks at which, over the sentence, and what one other word does to that."""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import replace

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.wording import format_count, percent
from attention_core.explain.heads import CLEAR_SHARE, is_self_attention
from attention_core.hub.catalogue import PACKAGE
from attention_core.hub.model import ModelKind
from attention_core.hub.run import ClassProbability, ModelRun, TextInput, special_keys
from pages.model.glance import NAME, Selection, chosen_layers, is_off, n_heads_of, short_name
from pages.model.heads import SECOND_TEXT
from pages.model.input import EDIT_CLICKS, ENGLISH, TEXT
from pages.model.one_head import token_view
from pages.model.scene import SentenceText, draw_sentence, fits_scene
from ui.labels import error_markdown
from ui.model_runs import RunRequest, pretrained_of, run_of
from ui.try_this import NOT_TRIED, TRY_STAGE, TryThis, is_answered, try_this

FIRST_TEXT = ENGLISH["Who was tired?"]
PRONOUN = "it"
SHORT_VALUE = 2  # times shorter than the others' is a value that hands over almost nothing
OPTIONS = {"street": 0, "animal": 1}
SWITCHED = ("tired", "wide")
MAX_NAMED = 24  # tokens with their classes
EMPTY = "·"  # in the place of a token of spaces alone, which nothing could emphasise


def headline(run: ModelRun, unchanged: ModelRun, request: RunRequest | None) -> None:
    """Say which class a classifier finds, and what the chosen head finds for the chosen token.

    The run is as it is with the page's edits, `unchanged` without; one object where there are none.
    """
    selection, layers = chosen_layers(run)
    if classes := run.classes_at(selection.query):
        first, *following = describe_classes(classes)
        before = describe_classes(unchanged.classes_at(selection.query))[0]
        before = f"; before the change {before}" if run is not unchanged else ""
        subject = "It sees" if run.kind is ModelKind.VISION else "It says"
        if run.token_classes:
            subject = f"It reads *{token_name(run.tokens[selection.query])}* as"
        st.markdown(f"## {subject} {first} :small[:gray[then {', '.join(following)}{before}]]")
    if run.token_classes:
        st.caption(describe_each_token(run))
    trace = layers[selection.layer]
    weights, label = trace.weights(selection.head, [selection.query])[0], _query_name(trace, selection.query)
    if is_off(trace, selection.head):
        st.markdown(f"## This head is switched off: {label} takes nothing from it")
    elif weights.isnan().any():
        st.markdown(f"## The weights of {label} are not numbers (NaN)")
    elif not weights.any():
        st.markdown(f"## {label} looks at nothing: all is masked, or has no weight")
    elif fits_scene(run, trace, selection.head):
        st.markdown(f"## {claim(run, selection, _weights_before(run, request, selection, run is not unchanged))}")
    else:
        st.markdown(f"## {describe_look(run, trace, selection)}")
    if run is not unchanged:
        layer = "This" if trace.edits else "Another"
        st.caption(f"{layer} layer's attention is changed by hand in *What if a head is switched off?*")


def claim(run: ModelRun, selection: Selection, before: list[float] | None) -> str:
    """Say what the chosen head finds for the chosen token, and whether another word at its end changes that, Markdown.

    `before` are the weights with the first of SWITCHED, None = there is no other word.
    """
    trace, query = run.groups[selection.group][selection.layer], selection.query
    weights = trace.weights(selection.head, [query])[0].tolist()
    head = f"{short_name(selection.layer, selection.head).capitalize()}, one of {n_heads_of(run, selection.group)},"
    strongest = strongest_key(run, trace, weights if before is None else before, query)
    label, target, second = *(token_name(run.tokens[at]) for at in (query, strongest)), SWITCHED[1]
    if (weights if before is None else before)[strongest] < CLEAR_SHARE:
        return f"{head} finds no single word for *{label}*"
    finds = f"{head} finds *{target}* for *{label}*"
    if before is None:
        return finds
    if max(abs(a - b) for a, b in zip(weights, before, strict=True)) < 1e-4:
        return f"{finds}, and *{second}* cannot change that: this model reads *{label}* first"
    if strongest_key(run, trace, weights, query) != strongest:
        return f"{finds}, until you say *{second}*"
    if weights[strongest] < CLEAR_SHARE:
        return f"{finds}, less with *{second}*: {percent(before[strongest])} → {percent(weights[strongest])}"
    return f"{finds}, also when you say *{second}*"


def _query_name(trace: AttentionTrace, query: int) -> str:
    return f"*{token_name(trace.story.query_axis.labels[query])}*"


def token_name(label: str) -> str:
    """Return a token as Markdown; spaces alone, which nothing could emphasise, as a dot."""
    return error_markdown(label.strip() or EMPTY)


def describe_classes(classes: Sequence[ClassProbability]) -> list[str]:
    """Return the likeliest classes, each with its probability, Markdown."""
    likeliest = sorted(classes, key=lambda label: -label.probability)[:3]
    return [f"*{error_markdown(label.name)}*: {percent(label.probability)}" for label in likeliest]


def describe_each_token(run: ModelRun) -> str:
    """Say the likeliest class of each token but marks; those of the commonest class together, Markdown."""
    positions = [position for position in range(len(run.tokens)) if position not in run.special]
    likeliest = {at: max(run.token_classes[at], key=lambda label: label.probability) for at in positions}
    if not likeliest:
        return "All its tokens are marks."
    ((common, n_common),) = Counter(label.name for label in likeliest.values()).most_common(1)
    named = [
        f"*{token_name(run.tokens[at])}* {error_markdown(label.name)} {percent(label.probability)}"
        for at, label in likeliest.items()
        if label.name != common
    ]
    further = [f"{len(named) - MAX_NAMED} more"] if len(named) > MAX_NAMED else []
    alike = f"{format_count(n_common, 'tokens')} {error_markdown(common)}"
    return f"{', '.join([*named[:MAX_NAMED], *further, alike])}."


def opening(run: ModelRun, request: RunRequest | None, is_changed: bool) -> None:
    """Show where the chosen token looks over the text; beside it, if one word is another, where it looked before."""
    selection, layers = chosen_layers(run)
    trace = layers[selection.layer]
    marks = dict.fromkeys(run.tokens[position] for position in sorted(run.sinks))
    marks_note = f"{', '.join(marks)}: {_describe_special_tokens(run)}." if marks else ""
    if fits_scene(run, trace, selection.head):
        before, sentence = _weights_before(run, request, selection, is_changed), _sentence_of(request)
        with st.container(key="model_editable" if sentence else "model_sentence"):
            draw_sentence(trace, selection.head, selection.query, sorted(run.special), before, sentence, marks_note)
    else:
        token_view(run, trace, selection.head)
        if marks_note:
            with st.container(key="desk_model_marks"):
                st.caption(error_markdown(marks_note))


def surprise(run: ModelRun, request: RunRequest | None) -> None:
    """Offer to change a word of the first example, after a guess."""
    text, tried = _package_text(request), TRY_STAGE[NAME]
    if text == FIRST_TEXT and is_answered(NAME):
        tried.reset()  # its answer is about the other text
    if text == FIRST_TEXT or (text == SECOND_TEXT and tried.value != NOT_TRIED):
        selection, layers = chosen_layers(run)
        try_this(NAME, _surprise(run, layers[selection.layer], selection))


def _sentence_of(request: RunRequest | None) -> SentenceText | None:
    """Return what a visitor may make of the sentence: its last word has a switch once no guess is about that."""
    model_input = request.model_input if request is not None else None
    if request is None or not isinstance(model_input, TextInput) or model_input.pair or model_input.target:
        return None
    switched = _switched_text(request) if _package_text(request) != FIRST_TEXT else None
    rival = SWITCHED[not _has_second(request)] if switched else None
    on_text = TEXT[NAME, pretrained_of(request.model_key).kind].set
    return SentenceText(model_input.text, on_text, EDIT_CLICKS.value, rival, switched or "")


def _has_second(request: RunRequest) -> bool:
    """Return whether a text has the second of SWITCHED."""
    return SWITCHED[1] in getattr(request.model_input, "text", "").split(" ")[-1]


def _switched_text(request: RunRequest | None) -> str | None:
    """Return the text with the other one of SWITCHED at its end; None where it ends with neither."""
    text = getattr(request.model_input, "text", "") if request is not None else ""
    for ending, replacement in (SWITCHED, SWITCHED[::-1]):
        if text.rstrip(".").endswith(f" was too {ending}"):
            return f"{text.rstrip('.')[: -len(ending)]}{replacement}{'.' * text.endswith('.')}"
    return None


def _weights_before(
    run: ModelRun, request: RunRequest | None, selection: Selection, is_changed: bool
) -> list[float] | None:
    """Return the chosen query's weights with the first of SWITCHED, None where the text has not the second."""
    switched = _switched_text(request)
    if request is None or switched is None or is_changed or not _has_second(request):
        return None
    assert isinstance(request.model_input, TextInput), "it has a text"
    first = run_of(request.model_key, replace(request.model_input, text=switched))
    trace = first.groups[selection.group][selection.layer]
    is_alike = len(first.tokens) == len(run.tokens) and selection.query < trace.n_queries
    return trace.weights(selection.head, [selection.query])[0].tolist() if is_alike else None


def _package_text(request: RunRequest | None) -> str:
    """Return the text that the model which comes along reads; "" where another one reads, or more than a text."""
    model_input = request.model_input if request is not None and request.model_key == PACKAGE else None
    return model_input.text if isinstance(model_input, TextInput) and model_input == TextInput(model_input.text) else ""


def describe_look(run: ModelRun, trace: AttentionTrace, selection: Selection) -> str:
    """Return at which word the chosen query of a head looks most, Markdown without a full stop."""
    weights = trace.weights(selection.head, [selection.query])[0].tolist()
    strongest = describe_strongest_keys(run, trace, weights, selection.query)
    return f"{_query_name(trace, selection.query)} looks at {strongest}"


def describe_strongest_keys(run: ModelRun, trace: AttentionTrace, weights: list[float], query: int) -> str:
    """Return the word with most of a query's weights, and whether itself or a mark has more, Markdown."""
    strongest, labels = strongest_key(run, trace, weights, query), trace.story.key_axis.labels
    sentence = f"*{token_name(labels[strongest])}*: {percent(weights[strongest])}" if any(weights) else "nothing"
    for position in sorted(_marks(run, trace, query)):
        if weights[position] > weights[strongest]:
            is_itself = position == query and is_self_attention(trace)
            name = "itself" if is_itself else token_name(labels[position])
            sentence += f", more at {name}: {percent(weights[position])}"
    return sentence


def strongest_key(run: ModelRun, trace: AttentionTrace, weights: list[float], query: int) -> int:
    """Return the key with most of a query's weights but itself and marks."""
    excluded = _marks(run, trace, query)
    candidates = [position for position, weight in enumerate(weights) if weight and position not in excluded]
    return max(candidates or range(len(weights)), key=weights.__getitem__)


def _marks(run: ModelRun, trace: AttentionTrace, query: int) -> Set[int]:
    """Return the keys that are no answer to a query: itself and marks, none where a mark asks."""
    if is_self_attention(trace) and query in run.sinks:
        return frozenset()
    sinks = run.sinks if trace.n_keys == len(run.tokens) else frozenset()
    return special_keys(run, trace) | sinks | ({query} if is_self_attention(trace) else set())


def _describe_special_tokens(run: ModelRun) -> str:
    """Say what the tokens of a run are that are called special."""
    if run.patch_grid is not None:
        return "no part of the picture, but put beside its patches by the model"
    if run.kind is ModelKind.DECODER:
        return "often where heads look that find nothing, since every token sees the first one"
    return "marks that the model adds to every text"


def _surprise(run: ModelRun, trace: AttentionTrace, selection: Selection) -> TryThis:

    def act() -> None:
        TEXT[NAME, ModelKind.ENCODER].value = SECOND_TEXT

    def outcome() -> tuple[int, str]:
        weights = trace.weights(selection.head, [run.tokens.index(PRONOUN)])[0]
        strongest = run.tokens[int(weights.argmax())]
        lengths = trace.value_of(selection.head).float().norm(dim=-1)
        times = float(lengths[1:].mean() / lengths[0].clamp_min(1e-9))
        sentence = f"*{strongest}* has most, {percent(float(weights.max()))}"
        if strongest == run.tokens[0] and times >= SHORT_VALUE:
            sentence += (
                ": a mark before every text, where a head rests. "
                f"Its value is {times:.0f} times shorter than the mean, so it adds almost nothing"
            )
        return OPTIONS.get(strongest, len(OPTIONS)), f"{sentence}."

    return TryThis(
        "*wide* instead of *tired*",
        "Say *wide* instead of *tired*: *it* is now the street. Where does this head look?",
        ("Most at *street*", "Most at *animal*, as before", "Most at neither"),
        act,
        outcome,
        "model_opening",
    )
