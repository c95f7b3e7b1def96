"""Your own model: what do the heads of any transformer look at?"""

from collections.abc import Callable, Iterable
from typing import Any

import streamlit as st

from attention_core.hub.model import ModelKind, predicts_words
from pages.model.ablation import change_heads, changed_run
from pages.model.effects import logit_by_part, patch_heads, run_faithfulness
from pages.model.glance import NAME, STEPS, glance, open_on_distant_weight
from pages.model.heads import heads_by_name, heads_in_numbers, rolled_out, side_by_side
from pages.model.input import TOPICS, choose_run, choose_source, offer_model
from pages.model.one_head import export_head, inspect_head, model_steps
from pages.model.opening import opening
from pages.model.why import explain_weight
from pages.model.writing import growing_cache, next_tokens
from ui.layout import stop_run
from ui.model_runs import pretrained_of
from ui.skeleton import Tab, page_frame, page_tabs
from ui.take_along import take_along


def tab(
    slug: str,
    label: str,
    draw: Callable[..., None],
    *arguments: Any,
    sections: Iterable[Tab] = (),
) -> Tab:
    """Return a tab or a section; where it does not get the changed run, it says that it shows the model unchanged."""

    def draw_with_note() -> None:
        if changed is not run and changed not in arguments:
            st.caption("The model as it is, without your changes in *What it does*.")
        draw(*arguments)

    return Tab(slug, label, draw_with_note, sections=tuple(sections))


page_frame(
    NAME, "In each layer of a transformer several attentions run side by side, its *heads*. What do they look at?"
)
opening_container = st.container(key="model_opening")  # its style reserves its height until the model has read the text
opening_container.empty()  # the browser leaves out a container without an element
left, right = st.columns([0.8, 1.2], gap="large")
with st.container(key="desk_model_source"):
    source = choose_source()
with left:
    run, request = choose_run(source)
if run is None:
    stop_run()
topic = TOPICS.get(getattr(request.model_input, "text", ""), "") if request else ""
open_on_distant_weight(run, topic)
changed = changed_run(run, request)
with opening_container:
    opening(changed, request, changed is not run)
with right, st.container(key="desk_model_heads"):
    glance(changed)
take_along(lambda: export_head(changed))

pretrained = pretrained_of(request.model_key) if request is not None else None
has_single_stack = pretrained is not None and pretrained.kind in (ModelKind.ENCODER, ModelKind.DECODER)
tabs = [
    tab("head", "Look", inspect_head, changed, sections=[tab("steps", "Step by step", model_steps, changed)]),
    tab(
        "heads",
        "Heads",
        heads_in_numbers,
        run,
        sections=[
            tab("layers", "Through all layers", rolled_out, run),
            tab("pair", "Side by side with another run", side_by_side, run, request),
            *([tab("named", "Over a corpus, by name", heads_by_name, run, request)] if has_single_stack else []),
        ],
    ),
]
if request is not None and pretrained is not None:
    has_picture = pretrained.reads_pictures and request.model_input.png is not None
    sections = [] if has_picture else [run_faithfulness(run, request)]
    if predicts_words(pretrained) and not has_picture and pretrained.kind is not ModelKind.ENCODER:
        sections.append(tab("words", "What it says next", next_tokens, request))
        sections.append(tab("keeps", "What it keeps: the KV cache", growing_cache, run, request))
    if predicts_words(pretrained) and has_single_stack:
        sections.append(tab("logit", "The logit, by head and layer", logit_by_part, run, request))
    if has_single_stack:
        sections.append(tab("patch", "Patch from a second sentence", patch_heads, run, request))
    tabs.append(tab("why", "Why there?", explain_weight, run, request))
    tabs.append(tab("without", "What it does", change_heads, run, changed, request, sections=sections))
elif run.recording.model:
    tabs += [tab("why", "Why there?", offer_model, run), tab("without", "What it does", offer_model, run)]
page_tabs(NAME, *tabs, players=(STEPS,))
