"""Models shared by all visitors, loaded on first use; what is missing is told in the page."""

from typing import Any

import streamlit as st
from torch import Tensor, nn

from attention_core.bounds import without_folders
from attention_core.device import choose_device
from attention_core.log import log
from attention_core.models import load
from attention_core.weights import WeightsError, read_card, read_weights
from ui.labels import said
from ui.layout import end_here


@st.cache_resource(show_spinner="Loading the model")
def _load(name: str, device: str) -> nn.Module:
    return load(name, device)  # there are as many as there are files, some 60 MB together


@st.cache_resource(max_entries=4, show_spinner="Loading the snapshots")
def load_snapshots(name: str) -> dict[str, Tensor]:
    """Return the parameters kept while a model was trained (see attention_core.train)."""
    return read_weights(f"{name}.snapshots")


def model_or_stop(name: str) -> nn.Module:
    """Return a trained model; when its file is missing or damaged, say what to do and end the page there."""
    try:
        return _load(name, choose_device())
    except WeightsError as error:
        log.warning("%s cannot be loaded", name, exc_info=True)
        st.error(f"**The model cannot be loaded.** {said(error)}", icon=":material/error:")
        end_here()


def model_or_none(name: str) -> tuple[nn.Module | None, str]:
    """Return a trained model and "", or None and what to do about its missing or damaged file."""
    try:
        return _load(name, choose_device()), ""
    except WeightsError as error:
        log.warning("%s cannot be loaded", name, exc_info=True)
        return None, without_folders(str(error))


def card_or_empty(name: str) -> dict[str, Any]:
    """Return a model's card, see read_card; empty when it is missing or damaged."""
    try:
        return read_card(name)
    except WeightsError:
        log.warning("The card of %s cannot be read", name, exc_info=True)
        return {}
