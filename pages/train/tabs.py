"""Below the film: the verdict on attention, what can be broken, files."""

from typing import Any

import streamlit as st

from attention_core.attention.wording import percent
from attention_core.bounds.limits import CHECKPOINT_BYTES
from attention_core.live_training.lesson import BEFOREHAND
from attention_core.live_training.live_run import LESSONS, SCRIPT, LiveRun, verdict
from pages.train import first_screen as screen
from pages.train.training import Training
from ui.fragments import rerun_fragments
from ui.labels import error_markdown, paragraph
from ui.layout import figures_table
from ui.state import Field, set_widget, single_choice, widget_value
from ui.take_along import OPEN_MENU

N_UPLOADS, REFUSED = Field(screen.NAME, "uploads", 0), Field(screen.NAME, "refused", "")


def did_attention_work(training: Training, text: str) -> None:
    """Say what attention is worth, beside its controls on the same batches."""
    run, frame = training.run, training.run.frames[-1]
    st.markdown(verdict(run))
    if not frame.step:
        return
    sizes = (sum(parameter.numel() for parameter in model.parameters()) for model in run.models.values())
    figures = zip(run.models, frame.accuracies.values(), frame.losses.values(), sizes, strict=True)
    rows = [(name, percent(right), f"{loss:.2f}", f"{size:,}") for name, right, loss, size in figures]
    figures_table(
        ("", screen.LESSON_WORDINGS[run.settings.lesson]["measure"].lower(), "loss in training", "parameters"), *rows
    )
    if run.settings.broken == BEFOREHAND:
        st.markdown("The looks were kept: only what comes after them was learned.")
    elif run.settings.lesson != "triples" and (looks := screen.LOOKS.value.get((id(run), text))):  # shown there: sums
        first, last = looks[0].passed, looks[-1].passed
        with st.expander("Can the map still change?"):
            paragraph(
                "**The sharper a map, the less it can still change**: in your input the softmax passed "
                f"{percent(first)} of a gradient at first, and passes {percent(last)} now."
            )


def draw_breaks() -> None:
    """Draw the choice of the part that is taken away."""
    screen.rerun_page_if(screen.HAS_CHANGED.value)
    options = {name: screen.WORDINGS["changes"][name] for name in LESSONS[screen.LESSON.value].broken}
    broken = single_choice("What is changed", screen.SETTINGS["broken"], options, disabled=screen.is_on(), wrap=True)
    paragraph((screen.WORDINGS["seen"] | screen.LESSON_WORDINGS[screen.LESSON.value].get("seen", {}))[broken])
    st.button("Train it so", key="train_break", on_click=screen.start, disabled=screen.is_on(), type="primary")


def offer_files(training: Training) -> None:
    """Offer the script of a training and its file, and take one back that was saved."""
    run, script = training.run, SCRIPT.format(settings=training.run.settings)
    st.download_button("Script (.py)", script, "training.py", key="train_script", on_click="ignore")
    label, file, is_on = "Training so far (.safetensors)", "training.safetensors", training.is_on
    st.download_button(label, run.checkpoint, file, key="train_file", on_click="ignore", disabled=is_on)
    key, max_megabytes = f"train_upload_{N_UPLOADS.value}", CHECKPOINT_BYTES.millions
    upload: dict[str, Any] = {"max_upload_size": max_megabytes, "on_change": _on_upload, "args": (key,)}
    st.file_uploader("Put back a training that you have saved", "safetensors", key=key, **upload)
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
