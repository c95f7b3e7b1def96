"""Why several heads, and what is the feed-forward part for? Translators trained with one head, and without that part.

Their weights do not come along.
"""

from collections.abc import Mapping

import streamlit as st

from attention_core.evaluate.trained_forms import Trainings, lost_bleu, trained_forms
from pages.transformer.charts import forms_chart
from pages.transformer.inputs import draw_sentence
from ui.chart import draw_chart
from ui.labels import note
from ui.layout import figures_table

ONE_HEAD, NO_FEED_FORWARD = "n_heads-1", "d_ff-0"
NAMES = {
    "": "six heads of 32",
    ONE_HEAD: "one head of 192",
    NO_FEED_FORWARD: "six heads, no feed-forward part",
}
draw_input = draw_sentence


def answer(_: str | None) -> str:
    """Say what one head and no feed-forward part cost."""
    forms = trained_forms()
    if not NAMES.keys() <= forms.keys():
        return "Nothing was measured beforehand."
    heads, feed_forward = (lost_bleu(forms[""], forms[form]) for form in (ONE_HEAD, NO_FEED_FORWARD))
    of_heads = "are no better than one of 192"
    if heads:
        of_heads = f"are {abs(heads):.1f} BLEU {'better' if heads > 0 else 'worse'} than one of 192"
    of_feed_forward = "gains no more than chance"
    if feed_forward:
        of_feed_forward = f"{'is worth' if feed_forward > 0 else 'costs'} {abs(feed_forward):.1f} BLEU"
    return f"After one pass of training, six heads of 32 {of_heads}, and the feed-forward part {of_feed_forward}."


def draw(text: str | None) -> None:
    """Draw the figures of all trainings."""
    measured = trained_forms()
    forms = {name: measured[form] for form, name in NAMES.items() if form in measured}
    if forms:
        _draw_table(forms, text)
    left, right = st.columns(2, gap="large")
    if forms:
        draw_chart(forms_chart(forms), key="transformer_forms", alt="BLEU by length", container=left)
    with right:
        note("The feed-forward part mixes no words. A small language model gains by neither: 42.2, 42.8, 42.5%.")


def _draw_table(forms: Mapping[str, Trainings], text: str | None) -> None:
    header, rows = ("", "parameters", "BLEU"), []
    for name, trainings in forms.items():
        scores = ", ".join(f"{row['test']['bleu']:.1f}" for row in trainings)
        rows.append((name, f"{trainings[0]['parameters']:,}", scores, trainings[0]["french"].get(text, "")))
    is_recorded = any(french for *_, french in rows)
    figures_table((*header, "your sentence" * is_recorded), *rows, ends_in_french=is_recorded)
    n_seeds = max(map(len, forms.values()))
    trained = "trained once: a BLEU or two may be chance" if n_seeds == 1 else f"a number for each of {n_seeds} seeds"
    note(
        f"On held-out sentences; {trained}. "
        + "Their weights do not come along, only their answers to the examples." * (not is_recorded)
    )
