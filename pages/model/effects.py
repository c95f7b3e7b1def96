"""What hangs on each part: what it adds to a logit, what it does as in a second sentence, whether a map explains it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.types import Role
from attention_core.attention.wording import fine_percent
from attention_core.bounds.limits import MODEL_TEXT_LETTERS
from attention_core.charts.bars import bars
from attention_core.charts.ramps import ROLE_COLOURS
from attention_core.faithfulness.model_subject import model_subject
from attention_core.hub.model import ModelKind, predicts_words, readable
from attention_core.hub.outputs import token_text
from attention_core.hub.run import ModelRun, TextInput
from attention_core.study import Attribution, Effects, Lens, ModelOutput, Study
from attention_core.study.output import token_id
from pages.model.glance import NAME, cached_with_run, chosen_in_text, head_map, short_name
from pages.model.heads import is_large
from pages.model.why import SOURCE_LABELS, format_source
from ui.chart import draw_chart
from ui.faithfulness import KeysInPicture, QuestionedMap, question_map
from ui.job_queue import result_on_demand
from ui.labels import error_markdown, literal, number
from ui.layout import figures_table
from ui.model_runs import RunRequest, prepared_of, pretrained_of
from ui.state import Field

N_PARTS, N_LIKELIEST = 8, 2
WORD = Field(NAME, "effect_word", "", address="word")
RIVAL = Field(NAME, "effect_rather", "", address="rather_than")
GAP_TITLE = "change of the difference of logits"
SECOND = Field(NAME, "effect_second", "", address="patch_from")


class LogitParts(NamedTuple):
    """What adds up to the logit of a word that may come next, and what is likeliest after each layer."""

    run: ModelRun
    word: str
    attribution: Attribution
    after: Lens


def take_logit_apart(run: ModelRun, request: RunRequest) -> LogitParts | str:
    """Let a person choose a word; return what adds up to its logit, or why that cannot be told."""
    pretrained, inputs = pretrained_of(request.model_key), prepared_of(*request).inputs
    study = Study(pretrained.model, pretrained.tokenizer)
    try:
        word, rival, position = _choose_tokens(run, request)

        def logit(out: ModelOutput) -> Any:
            return out.logit(word, position) - (0 if rival is None else out.logit(rival, position))

        def compute() -> Attribution:
            with torch.inference_mode(False):  # it takes a gradient
                return study.attribute(inputs, metric=logit)

        with st.spinner("Taking the logit apart"):
            attribution = cached_with_run(run, ("attribution", word, rival), compute)
            after = cached_with_run(run, "lens", lambda: study.lens(inputs, position=position, n=N_LIKELIEST))
    except ValueError as error:
        return f"The logit cannot be taken apart: {error_markdown(error)}."
    return LogitParts(run, _token_names(pretrained.tokenizer, word, rival), attribution, after)


def describe_logit(parts: LogitParts) -> str:
    """Return which head adds most to the logit, in a sentence."""
    heads = parts.attribution.heads
    layer, head = divmod(int(heads.abs().nan_to_num(-1).argmax()), heads.shape[1])
    adds, value = number(float(heads[layer, head]), "+.2f"), number(parts.attribution.value)
    return f"{short_name(layer, head).capitalize()} moves the logit of {parts.word} most: by {adds} of {value}."


def _token_names(tokenizer: Any, word: Any, rival: Any) -> str:
    ids = [word] if rival is None else [word, rival]
    return " less that of ".join(literal(token.strip()) for token in readable(tokenizer, ids))


def draw_logit_parts(parts: LogitParts) -> None:
    """Draw what each head adds to the logit, and what is likeliest after each layer."""
    run, _, attribution, after = parts
    left, right = st.columns([1.1, 1], gap="large")
    with left:
        head_map(run, "model_adds", attribution.heads.tolist(), chosen_in_text(run), "adds to the logit")
        st.caption(
            f"The logit is the sum of what all heads, all feed-forward layers, the word itself and "
            f"{SOURCE_LABELS['biases']} add. {attribution.note}"
        )
    with right:
        added = {format_source(source.name): float(source.vectors) for source in attribution.sources}
        largest = sorted(added, key=lambda name: abs(added[name]), reverse=True)[:N_PARTS]
        colour, height, title = ROLE_COLOURS[Role.OUTPUT], 28 * len(largest) + 40, "adds to the logit"
        values = [added[name] for name in largest]
        chart = bars(values, largest, title=title, colour=colour, height=height, label_limit=210)
        draw_chart(chart, key="model_adds_bars", alt="The parts that add most to the logit")
        st.markdown("If the model ended there, it would say")
        rows = [[f"{text} {fine_percent(share)}" for text, share in likeliest] for likeliest in after.likeliest]
        names = ["the word itself", *(f"layer {layer}" for layer in range(len(rows) - 1))]
        figures_table(("after", "", ""), *((name, *row) for name, row in zip(names, rows, strict=True)))


class ChangedHeads(NamedTuple):
    """What the model's answer becomes with each head changed; no effects = answer says why."""

    run: ModelRun
    answer: str
    title: str = ""
    change: Tensor | None = None
    with_chosen: str = ""


def patch_heads(run: ModelRun, request: RunRequest) -> ChangedHeads:
    """Let a person type a second sentence; return what the answer becomes when one head is as in that."""
    pretrained, inputs = pretrained_of(request.model_key), prepared_of(*request).inputs
    study, example = Study(pretrained.model, pretrained.tokenizer), "The same sentence with another word"
    second = SECOND.widget(st.text_input, "Second sentence, of as many tokens", placeholder=example).strip()
    try:
        word, rival, position = _choose_tokens(run, request) if predicts_words(pretrained) else (None, None, -1)
        if not second:
            return ChangedHeads(run, "One head at a time is taken from a second sentence.")
        second_input = TextInput(second[: MODEL_TEXT_LETTERS.maximum], png=request.model_input.png)
        second_inputs = prepared_of(request.model_key, second_input).inputs
        is_gap = word is not None and is_large(pretrained)
        second_output = cached_with_run(run, ("second", second), lambda: study.run(second_inputs)[1].detached())
        if is_gap and rival is None:
            likeliest = second_output.scores(position).topk(2).indices.tolist()
            rival = likeliest[likeliest[0] == word]
        metric = _metric(word, rival, position, is_gap, second_output)
        patch = partial(study.patch, second_inputs, inputs, metric=metric)
        key = "patched", request.model_key, request.model_input, second, word, rival, position, is_gap
        effects = effects_of_heads(run, key, patch, is_estimated=is_gap)
    except ValueError as error:
        return ChangedHeads(run, f"Nothing can be patched: {error_markdown(error)}.")
    selection = chosen_in_text(run)
    chosen = selection.layer, selection.head
    largest = divmod(int(effects.change.abs().nan_to_num(-1).argmax()), effects.values.shape[1])

    def in_units(value: float) -> str:
        return number(value) if is_gap else _in_units(value, word, rival)

    def effect_of(head: tuple[int, int]) -> str:
        return f"**{short_name(*head)}** from there alone: **{in_units(float(effects.values[head]))}**"

    before, goal = in_units(effects.before), in_units(effects.goal)
    if word is None:
        answer = f"The vectors of both sentences, means of their tokens’, have a cosine of {before}."
    else:
        words = _token_names(pretrained.tokenizer, word, rival)
        measure = "logit" if is_gap else "probability"
        lead = f"{words} comes {'next ' * (position == -1)}with" if rival is None else f"The {measure} of {words} is"
        answer = f"{lead} {before} here, {'with ' * (rival is None)}{goal} after the second sentence."
    with_chosen = f"With {effect_of(chosen)}." if chosen != largest else ""
    title = "change, percentage points" if word is not None else "change of the cosine, hundredths"
    title, change = (GAP_TITLE, effects.change) if is_gap else (title, 100 * effects.change)
    answer = f"{answer} With {effect_of(largest)}{describe_source(effects)}."
    return ChangedHeads(run, answer, title, change, with_chosen)


def draw_changed_heads(changed: ChangedHeads) -> None:
    """Draw how far each head moves the answer."""
    if changed.change is not None:
        head_map(changed.run, "model_moved", changed.change.tolist(), chosen_in_text(changed.run), changed.title)
        if changed.with_chosen:
            st.markdown(changed.with_chosen)


def drop_heads(run: ModelRun, request: RunRequest) -> ChangedHeads:
    """Return how far the likeliest token or class leads the next one without each head, in logits."""
    pretrained, inputs = pretrained_of(request.model_key), prepared_of(*request).inputs
    reason = "High weights cannot tell whether a head matters: the output can."
    query = chosen_in_text(run).query
    classes = run.classes_at(query)
    if run.logits is None or len(run.groups) > 1 or not (classes or predicts_words(pretrained)):
        return ChangedHeads(run, reason)
    try:
        position = query if run.token_classes else -1 if classes else _position(len(run.logits), request)
        word, rival = run.logits[position].topk(2).indices.tolist()
        ablate = partial(Study(pretrained.model).ablate, inputs, metric=_metric(word, rival, position, is_gap=True))
        effects = effects_of_heads(run, ("dropped", *request, position), ablate, is_estimated=is_large(pretrained))
    except ValueError:  # no mask in the text, or an architecture whose heads cannot be dropped
        return ChangedHeads(run, reason)
    if classes:
        first, second = (literal(classes[number].name) for number in (word, rival))
    else:
        first, second = (literal(token.strip()) for token in readable(pretrained.tokenizer, [word, rival]))
    head = divmod(int(effects.change.abs().nan_to_num(-1).argmax()), effects.values.shape[1])
    without = f"Without **{short_name(*head)}** alone: **{number(float(effects.values[head]))}**"
    subject = f"Of {literal(run.tokens[query].strip())}, the" if run.token_classes else "The"
    answer = f"{subject} logit of {first} leads that of {second} by {number(effects.before)}. {without}"
    return ChangedHeads(run, f"{answer}{describe_source(effects)}.", GAP_TITLE, effects.change)


def _metric(
    word: Any, rival: Any, position: int, is_gap: bool, second: ModelOutput | None = None
) -> Callable[[ModelOutput], Tensor]:
    """Return a word's probability or logit, perhaps less another's, or how alike the vector is to that of a second."""
    vector = _mean_state(second) if word is None and second is not None else None

    def metric(out: ModelOutput) -> Tensor:
        if vector is not None:
            return torch.cosine_similarity(_mean_state(out), vector, 0)
        value = out.logit if is_gap else out.probability
        return value(word, position) - (0 if rival is None else value(rival, position))

    return metric


def effects_of_heads(run: ModelRun, key: Any, study: Callable[..., Effects], *, is_estimated: bool) -> Effects:
    """Return what changes with each head: measured, or as one gradient estimates it until a person has it measured."""

    def of_text(**options: Any) -> Effects:
        with torch.inference_mode(False):  # it may take a gradient
            effects, n = study(**options), len(next(iter(run.groups.values())))  # a picture's tower runs before
        estimate = None if effects.estimate is None else effects.estimate[-n:]
        return replace(effects, values=effects.values[-n:], estimate=estimate)

    def measured() -> Effects:
        bar = st.progress(0.0, "Head by head")
        try:
            return of_text(gradient=is_estimated, progress=bar.progress)
        finally:
            bar.empty()

    def portions() -> Iterator[tuple[float, Effects]]:
        yield 1.0, measured()

    if not is_estimated:
        return cached_with_run(run, key, measured)
    estimate = cached_with_run(run, key, lambda: of_text(measure=False))
    label = f"Measure all {estimate.values.numel()} heads"
    return result_on_demand(key, label, f"model_{key[0]}_measure", portions) or estimate


def describe_source(effects: Effects) -> str:
    """Return whether effects are an estimate, or how well the one by gradient fits them; "" where there is none."""
    if not effects.is_measured:
        return ", by gradient: an estimate, not measured"
    r = number(effects.correlation)
    return "" if effects.estimate is None else f", measured; with the estimate by gradient r = {r}"


def _mean_state(out: ModelOutput) -> Tensor:
    if out.hidden is None:
        raise ValueError("the model hands out logits alone, and no vectors that could be compared")
    return out.hidden.mean(0)


def _in_units(value: float, word: Any, rival: Any = None) -> str:
    if rival is not None:
        return f"{number(100 * value, 'z.0f')} points"
    return fine_percent(value) if word is not None else f"{value:.3f}"


def _position(n_logits: int, request: RunRequest) -> int:
    """Return where the word is asked for, from the end: after the text, or at the mask; ValueError = there is none."""
    pretrained = pretrained_of(request.model_key)
    if pretrained.kind is ModelKind.DECODER:
        return -1
    ids = prepared_of(*request).inputs["input_ids"][0].tolist()
    mask = pretrained.tokenizer.mask_token_id
    if mask not in ids or len(ids) - ids.index(mask) > n_logits:
        raise ValueError(f"write {pretrained.tokenizer.mask_token} in your text, where the word is asked for")
    return ids.index(mask) - len(ids)


def _choose_tokens(run: ModelRun, request: RunRequest) -> tuple[Any, Any, int]:
    """Let a person choose a word, and perhaps another one from which it is told apart; and where it is asked for."""
    if run.logits is None:
        raise ValueError("the model hands out no logits")
    position, tokenizer = _position(len(run.logits), request), pretrained_of(request.model_key).tokenizer
    likeliest, label = int(run.logits[position].argmax()), "Next word" if position == -1 else "Masked word"
    with st.container(horizontal=True, gap="medium"):
        word = _choose_token(tokenizer, likeliest, WORD, label)
        return word, _choose_token(tokenizer, likeliest, RIVAL, "rather than"), position


def _choose_token(tokenizer: Any, likeliest: int, field: Field[str], label: str) -> Any:
    """Let a person choose a word that may stand there, else the likeliest; ValueError = it is no single token."""
    offered = token_text(tokenizer, likeliest).strip("␣") if field is WORD else "nothing"
    text = field.widget(st.text_input, label, placeholder=offered, max_chars=60, width=220).strip()
    if text:
        return token_id(tokenizer, f" {text}")
    return likeliest if field is WORD else None


ANSWERS = {
    ModelKind.ENCODER: "The answer: the sentence's vector; what is left, the cosine.",
    ModelKind.DECODER: "The answer: the next token. More queries see early tokens.",
    ModelKind.VISION: "The answer: the class.",
}
MAP = "The map: the mean of all heads and queries."


def question_run(run: ModelRun, request: RunRequest) -> QuestionedMap:
    """Return whether a run's map explains its answer: its tokens become the unknown one, or its patches plain."""
    pretrained, units, over = pretrained_of(request.model_key), "tokens", None
    if run.patch_grid is not None and run.picture is not None:
        units, over = "patches", KeysInPicture(run.picture, run.patch_grid, run.n_prefix)
    answer = f"{ANSWERS.get(pretrained.kind, '')} {MAP}"
    return question_map(
        NAME,
        request.model_key,
        units,
        lambda pretrained, request: model_subject(pretrained, prepared_of(*request)),
        request,
        over=over,
        note=answer,
        is_on_demand=is_large(pretrained),
        load=pretrained_of,
        first=0,
    )
