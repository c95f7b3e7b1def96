"""What hangs on each head: what it adds to a word's logit, and what its state in a second sentence does here."""

from typing import Any

import streamlit as st
import torch

from attention_core.attention.types import Role
from attention_core.bounds import MODEL_TEXT_LETTERS
from attention_core.charts.bars import bars
from attention_core.charts.vega import ROLE_COLOURS
from attention_core.hub.language import token_text
from attention_core.hub.model import readable
from attention_core.hub.run import ModelRun, TextInput
from attention_core.study import Attribution, ModelOutput, Study
from attention_core.study.output import token_id
from ui.chart import draw_chart
from ui.labels import as_percent, error_markdown, literal, number
from ui.layout import figures_table
from ui.model.glance import NAME, cached_with_run, chosen, head_map
from ui.model.why import in_words
from ui.model_runs import LatestRun, prepared_of, pretrained_of
from ui.state import Field

N_PARTS, N_LIKELIEST = 8, 2
WORD = Field(NAME, "effect_word", "", address="word")
RATHER = Field(NAME, "effect_rather", "", address="rather_than")
SECOND = Field(NAME, "effect_second", "", address="patch_from")


def logit_by_part(run: ModelRun, asked: LatestRun) -> None:
    """Draw what each head adds to the logit of a word that may come next, and what is likeliest after each layer."""
    pretrained, inputs = pretrained_of(asked.key), prepared_of(*asked).inputs
    study = Study(pretrained.model, pretrained.tokenizer)
    try:
        with st.container(horizontal=True, gap="medium"):
            word, rather = _choose_word(run, asked), _choose_word(run, asked, RATHER, "rather than")

        def logit(out: ModelOutput) -> Any:
            return out.logit(word) - (0 if rather is None else out.logit(rather))

        def compute() -> Attribution:
            with torch.inference_mode(False):  # it takes a gradient
                return study.attribute(inputs, metric=logit)

        found = cached_with_run(run, ("attribution", word, rather), compute)
        after = cached_with_run(run, "lens", lambda: study.lens(inputs, n=N_LIKELIEST))
    except ValueError as error:
        st.info(f"The logit cannot be taken apart: {error_markdown(error)}.")
        return
    left, right = st.columns([1.1, 1], gap="large")
    with left:
        head_map("model_adds", found.heads.tolist(), chosen(run), title="adds to the logit")
        st.caption(
            f"The logit, {number(found.value)}, is the sum of what all heads, all feed-forward layers and the word "
            f"itself add; rounding leaves {abs(found.residue):.1g}. {found.note} Click a head."
        )
    with right:
        added = {in_words(one.name): float(one.vectors) for one in found.sources}
        largest = sorted(added, key=lambda name: abs(added[name]), reverse=True)[:N_PARTS]
        look = {"colour": ROLE_COLOURS[Role.OUTPUT], "height": 28 * len(largest) + 40, "label_limit": 210}
        chart = bars([added[name] for name in largest], largest, title="adds to the logit", **look)
        draw_chart(chart, key="model_adds_bars", alt="The parts that add most to the logit")
        st.markdown("If the model ended there, it would say")
        rows = [[f"{text} {as_percent(share)}" for text, share in likeliest] for likeliest in after.likeliest]
        names = ["the word itself", *(f"layer {layer}" for layer in range(1, len(rows)))]
        figures_table(("after", "", ""), *((name, *row) for name, row in zip(names, rows, strict=True)))


def patch_heads(run: ModelRun, asked: LatestRun) -> None:
    """Draw what a word's probability becomes when one head hands over what it has in a second sentence."""
    st.markdown("One head alone hands over what it has in a second sentence. How likely is the word then?")
    pretrained, inputs = pretrained_of(asked.key), prepared_of(*asked).inputs
    study, example = Study(pretrained.model, pretrained.tokenizer), "The same sentence with another word"
    second = SECOND.widget(st.text_input, "Second sentence, of as many tokens", placeholder=example).strip()
    try:
        word = _choose_word(run, asked)
        if not second:
            return
        other = prepared_of(asked.key, TextInput(second[: MODEL_TEXT_LETTERS.most])).inputs
        found = cached_with_run(
            run,
            ("patched", second, word),
            lambda: study.patch(other, inputs, metric=lambda out: out.probability(word), gradient=False),
        )
    except ValueError as error:
        st.info(f"Nothing can be taken from that sentence: {error_markdown(error)}.")
        return
    layer, head = divmod(int(found.change.abs().nan_to_num(-1).argmax()), found.values.shape[1])
    said = literal(readable(pretrained.tokenizer, [word])[0].strip())
    st.markdown(
        f"{said} comes next with {as_percent(found.before)} here, with {as_percent(found.goal)} after the second "
        f"sentence. With **layer {layer + 1}, head {head + 1}** from there alone: "
        f"**{as_percent(float(found.values[layer, head]))}**."
    )
    values = (100 * found.change).tolist()
    head_map("model_patched", values, chosen(run), title="change, percentage points")


def _choose_word(run: ModelRun, asked: LatestRun, field: Field[str] = WORD, label: str = "Next word") -> Any:
    """Let a person choose a word that may come next, the likeliest unless told; ValueError = it is no single token."""
    tokenizer, likeliest = pretrained_of(asked.key).tokenizer, int(run.logits[-1].argmax())  # type: ignore[index]
    offered = token_text(tokenizer, likeliest).strip("␣") if field is WORD else "nothing"
    text = field.widget(st.text_input, label, placeholder=offered, max_chars=60, width=220).strip()
    if text:
        return token_id(tokenizer, f" {text}")
    return likeliest if field is WORD else None
