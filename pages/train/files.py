"""The files of a training: its script and its numbers, and one that was saved before."""

from typing import Any

import streamlit as st

from attention_core.bounds.limits import CHECKPOINT_BYTES
from attention_core.live_training.live_run import SCRIPT, LiveRun
from pages.train import first_screen as screen
from pages.train.training import Training
from ui.fragments import rerun_fragments
from ui.labels import error_markdown
from ui.state import Field, set_widget, widget_value
from ui.take_along import OPEN_MENU

N_UPLOADS, REFUSED = Field(screen.NAME, "uploads", 0), Field(screen.NAME, "refused", "")


def offer_files(training: Training) -> None:
    """Offer the script of a training and its file, and take one back that was saved."""
    run, script = training.run, SCRIPT.format(settings=training.run.settings)
    st.download_button("Script (.py)", script, "training.py", key="train_script", on_click="ignore")
    label, file, is_on = "Training so far (.safetensors)", "training.safetensors", training.is_on
    st.download_button(label, run.checkpoint, file, key="train_file", on_click="ignore", disabled=is_on)
    key, max_megabytes = f"train_upload_{N_UPLOADS.value}", CHECKPOINT_BYTES.millions
    upload: dict[str, Any] = {"max_upload_size": max_megabytes, "on_change": _on_upload, "args": (key,)}
    st.file_uploader("Put back a saved training", "safetensors", key=key, **upload)
    if REFUSED.value:
        st.error(f"{error_markdown(REFUSED.value)} The page is as it was.", icon=":material/error:")


def _on_upload(key: str) -> None:
    upload, REFUSED.value = widget_value(key), ""
    if upload is None:
        return
    N_UPLOADS.value += 1
    try:
        screen.set_training(Training(LiveRun.from_checkpoint(upload.getvalue())))
    except ValueError as error:
        REFUSED.value = str(error)
        return
    set_widget(OPEN_MENU, False)
    rerun_fragments()
