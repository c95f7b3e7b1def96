"""Faults below a page, told in it: no memory, a missing file, a lost GPU, files that have changed."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import streamlit as st

from attention_core.log import log
from ui.labels import error_markdown
from ui.restart import explains_failure
from ui.state import APP, Field

GPU_LOST = Field(APP, "gpu_lost", False)
NO_MEMORY = "**There is not enough memory for this just now.** Make the input smaller, or try again in a moment."
_BUTTONS = count()


@contextmanager
def show_faults() -> Iterator[None]:
    """Tell a visitor that memory ran out or a file is missing; go on without a lost GPU. All else comes through."""
    try:
        yield
    except Exception as error:
        from attention_core.device import choose_device, computes, disable_device, lacks_memory
        from attention_core.weights import WeightsError

        device = choose_device()
        if isinstance(error, WeightsError):
            log.warning("A page cannot go on", exc_info=True)
            st.error(f"**The page needs a file that cannot be read.** {error_markdown(error)}", icon=":material/error:")
        elif lacks_memory(error):
            log.warning("No memory for a visitor's page", exc_info=True)
            gc.collect()
            st.error(NO_MEMORY, icon=":material/memory:")
            st.button("Try again", key=f"fault_again_{next(_BUTTONS)}")
        elif device != "cpu" and not computes(device):
            log.error("%s is lost; all is computed on the CPU from now on", device, exc_info=True)
            disable_device(device)
            st.cache_resource.clear()  # what lies on the device is lost with it
            GPU_LOST.value = True
            st.rerun()
        elif explains_failure():
            log.warning("Files of the app have changed since it was started", exc_info=True)
        else:
            raise


def show_lost_gpu() -> None:
    """Say once to the visitor who met it that the GPU is lost."""
    if GPU_LOST.value:
        GPU_LOST.value = False
        st.toast(
            "The GPU has stopped answering. All is computed on the CPU now, and takes longer.", icon=":material/memory:"
        )
