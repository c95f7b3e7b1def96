"""Your own model: what do the heads of any transformer look at?"""

from collections.abc import Callable, Iterable
from typing import Any

import streamlit as st

from attention_core.hub.model import ModelKind, predicts_words
from pages.model.ablation import change_heads, changed_run
from pages.model.effects import logit_by_part, model_doubts, patch_heads
from pages.model.glance import NAME, STEPS, glance, open_on_a_far_look
from pages.model.heads import heads_in_numbers, named_heads, rolled_out, side_by_side
from pages.model.input import ABOUT, choose_run, choose_source, offer_model
from pages.model.one_head import export_head, model_steps, one_head
from pages.model.opening import opening
from pages.model.why import why_there
from pages.model.words import next_tokens, what_it_keeps
from ui.layout import stop_run
from ui.model_runs import pretrained_of
from ui.skeleton import Tab, page_frame, page_tabs
from ui.take_along import take_along


def tab(
    slug: str,
    label: str,
    draw: Callable[..., None],
    *given: Any,
    formerly: tuple[str, ...] = (),
    sections: Iterable[Tab] = (),
) -> Tab:
    """Return a tab or a section, which says where it shows the model without the visitor's changes."""

    def draw_with_note() -> None:
        if changed is not run and changed not in given:
            st.caption("The model as it is, without your changes in *What it does*.")
        draw(*given)

    return Tab(slug, label, draw_with_note, formerly, sections=tuple(sections))


page_frame(
    NAME, "In each layer of a transformer several attentions run side by side, its *heads*. What do they look at?"
)
top = st.container(key="model_opening")  # its style keeps it free until the model has read the text
top.empty()  # without anything in it the browser leaves it out
given, seen = st.columns([0.8, 1.2], gap="large")
with st.container(key="desk_model_source"):
    source = choose_source()
with given:
    run, asked = choose_run(source)
if run is None:
    stop_run()
open_on_a_far_look(run, ABOUT.get(getattr(asked.given, "text", ""), "") if asked else "")
changed = changed_run(run, asked)
with top:
    opening(changed, asked, changed is not run)
with seen, st.container(key="desk_model_heads"):
    glance(changed)
take_along(lambda: export_head(changed))

pretrained = pretrained_of(asked.key) if asked is not None else None
reads_alone = pretrained is not None and pretrained.kind in (ModelKind.ENCODER, ModelKind.DECODER)
tabs = [
    tab("head", "Look", one_head, changed, sections=[tab("steps", "Step by step", model_steps, changed)]),
    tab(
        "heads",
        "Heads",
        heads_in_numbers,
        run,
        formerly=("alike",),
        sections=[
            tab("layers", "Through all layers", rolled_out, run),
            tab("pair", "Side by side with another run", side_by_side, run, asked),
            *([tab("named", "Over a corpus, by name", named_heads, run, asked)] if reads_alone else []),
        ],
    ),
]
if asked is not None and pretrained is not None:
    is_with_picture = pretrained.reads_pictures and asked.given.png is not None
    sections = [] if is_with_picture else [model_doubts(run, asked)]
    if predicts_words(pretrained) and not is_with_picture and pretrained.kind is not ModelKind.ENCODER:
        sections.append(tab("words", "What it says next", next_tokens, asked))
        sections.append(tab("keeps", "What it keeps: the KV cache", what_it_keeps, run, asked, formerly=("cache",)))
    if predicts_words(pretrained) and reads_alone:
        sections.append(tab("logit", "The logit, by head and layer", logit_by_part, run, asked))
    if reads_alone:
        sections.append(tab("patch", "Patch from a second sentence", patch_heads, run, asked))
    tabs.append(tab("why", "Why there?", why_there, run, asked))
    tabs.append(tab("without", "What it does", change_heads, run, changed, asked, sections=sections))
elif run.recording.model:
    tabs += [tab("why", "Why there?", offer_model, run), tab("without", "What it does", offer_model, run)]
page_tabs(NAME, *tabs, players=(STEPS,))
