"""What the page and its experiments show: a run, the same with heads changed by hand, where it comes from."""

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

import streamlit as st

from attention_core.data.language_pieces import NAME as LANGUAGE_MODEL
from attention_core.hub.model import ModelKind, Pretrained, predicts_words
from attention_core.hub.run import ModelRun
from pages.model.ablation import changed_run
from pages.model.glance import NAME, Selection, choose_head, chosen, open_on_distant_weight
from pages.model.input import TEXT, choose_run, choose_source, offer_model
from pages.model.one_head import export_head
from ui.fragments import with_rerun
from ui.layout import stop_run
from ui.model_runs import PAGE_MODEL, RunRequest, pretrained_of
from ui.take_along import take_along


class Runs(NamedTuple):
    """A run, and the same with heads changed by hand; they are one object where nothing is changed."""

    run: ModelRun
    changed: ModelRun
    request: RunRequest | None  # None = a recording

    @property
    def model_request(self) -> RunRequest:
        """The request of an experiment that needs a model, see Need."""
        assert self.request is not None
        return self.request


class Need(Enum):
    """What an experiment needs, as it is asked for."""

    MODEL = "a model that can run again"
    WORDS = "a model that predicts words"
    FORWARDS = "a decoder alone, which reads forwards"
    WRITING = "a model with a decoder"
    SINGLE_STACK = "an encoder or a decoder alone"
    NO_PICTURE = "a text without a picture"

    def is_satisfied_by(self, request: RunRequest, pretrained: Pretrained) -> bool:
        """Return whether a model and its input have it."""
        has_picture = pretrained.reads_pictures and request.model_input.png is not None
        return {
            Need.MODEL: True,
            Need.WORDS: predicts_words(pretrained),
            Need.FORWARDS: pretrained.kind is ModelKind.DECODER and not has_picture,
            Need.WRITING: predicts_words(pretrained) and pretrained.kind is not ModelKind.ENCODER,
            Need.SINGLE_STACK: pretrained.kind in (ModelKind.ENCODER, ModelKind.DECODER),
            Need.NO_PICTURE: not has_picture,
        }[self]


def runs_of(run: ModelRun, request: RunRequest | None) -> Runs:
    """Return a run, and the same with heads changed by hand; it opens on the head where a word looks far away."""
    open_on_distant_weight(run)
    changed = changed_run(run, request)
    take_along(lambda: export_head(changed))
    return Runs(run, changed, request)


def draw_model(*needs: Need, has_changes: bool = False) -> Runs:
    """Draw the choice of an experiment's model and its input; ends the experiment where it lacks what that needs."""
    with st.container(key="experiment_input"):
        source = choose_source()
        run, request = choose_run(source)
    if run is None:
        stop_run()
    runs = runs_of(run, request)
    if needs:
        _check_needs(runs, needs)
    if runs.changed is not run and not has_changes:
        st.caption("The model as it is, without your changes in *What if a head is switched off?*")
    return runs


def draw_model_and_head(
    *needs: Need, has_changes: bool = False, select: Callable[[ModelRun], Selection] = chosen
) -> Runs:
    """Draw the choice of an experiment's model, its input, and one of its heads; `select` returns what is chosen."""
    runs = draw_model(*needs, has_changes=has_changes)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="experiment_input_head"):
        run = runs.changed if has_changes else runs.run
        choose_head(run, select(run))
    return runs


def _check_needs(runs: Runs, needs: tuple[Need, ...]) -> None:
    if runs.request is None:
        if runs.run.recording.model:
            offer_model(runs.run)
        else:
            st.info("A recording cannot run again. Choose a model above.")
        stop_run()
    pretrained = pretrained_of(runs.request.model_key)
    for need in needs:
        if not need.is_satisfied_by(runs.request, pretrained):
            st.info(f"This needs {need.value}.")
            _offer_small_model(getattr(runs.request.model_input, "text", ""))
            stop_run()


def _offer_small_model(text: str) -> None:
    """Offer the small language model that comes along, which has all that experiments need, with what was typed."""

    def load() -> None:
        if text:
            TEXT[NAME, ModelKind.DECODER].value = text
        PAGE_MODEL.load(LANGUAGE_MODEL)

    st.button("Take the small Llama, which writes", "model_take_small", type="primary", on_click=with_rerun(load))
