"""Where the app computes: here, or by the deployment that ATTENTION_RAY_ADDRESS names (attention_core.serve)."""

import os
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from attention_core.device import choose_device, describe_device
from attention_core.log import log
from attention_core.serve.client import ADDRESS, BEAT, AwayError, Cluster, LostError
from ui.state import APP, Field

AWAY = "ATTENTION_RAY_AWAY"
"""What to do while the cluster does not answer: "here" = compute here, "wait" = wait for it."""
AWAY_WORDS = "The cluster does not answer."
IS_TOLD = Field(APP, "cluster_told", False)
"""Whether this visitor knows that it is away."""


@cache
def cluster() -> Cluster | None:
    """Return the cluster on which models compute, one for all visitors; None = here."""
    return Cluster(os.environ[ADDRESS]) if os.environ.get(ADDRESS) else None


def computed_there(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any] | None:
    """Return in a tuple what a function returns on the cluster; None = it is to be computed here.

    That is so without a cluster, while it does not answer (the visitor is told), and where it cannot say.
    """
    there = cluster()
    while there is not None:
        try:
            found = (there.call(function, *args, **kwargs),)
            IS_TOLD.value = False
            return found
        except AwayError:
            if not _waits():
                if not IS_TOLD.value:
                    st.toast(f"{AWAY_WORDS} This is computed here.")
                IS_TOLD.value = True
                return None
            _wait(there)
        except (LostError, ValueError):  # what it cannot do is told by trying it here
            log.warning("%s did not compute %s", there.name, function, exc_info=True)
            return None
    return None


def computing_words() -> str:
    """Return where models compute, in a sentence for people."""
    here, there = _here(), cluster()
    if there is None:
        return f"Computing on {here}"
    try:
        return f"Computing on a cluster: {there.device()}"
    except AwayError:
        return f"{AWAY_WORDS} " + ("Waiting for it" if _waits() else f"Computing on {here}")


@st.cache_resource(show_spinner=False)
def _here() -> str:
    return describe_device(choose_device())


def _waits() -> bool:
    return os.environ.get(AWAY) == "wait"


def _wait(there: Cluster) -> None:
    """Wait until it answers; a visitor who goes elsewhere ends it."""
    spot = st.empty()
    while there.is_away:
        spot.info(f"{AWAY_WORDS} Waiting for it.")
        time.sleep(BEAT)
    spot.empty()
