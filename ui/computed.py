"""Computing with models: loaded once, one computation at a time, here or on a cluster, results cached for all visitors.

Where a model's file is missing, the page says so.
"""

import hashlib
import os
import sys
import threading
import time
from bisect import insort
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from itertools import count
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import streamlit as st
import torch
from torch import Tensor, nn

from attention_core.bounds.harmless import strip_folders
from attention_core.concurrency import BoundedCache, ComputedValue, note_released, note_requested
from attention_core.device import choose_device, describe_device, to_array
from attention_core.log import log
from attention_core.models import load
from attention_core.serve.client import ADDRESS, POLL_SECONDS, AwayError, Cluster, LostError
from attention_core.serve.wire import PACKAGES, function_name, is_ours
from attention_core.weights import WeightsError, read_card, read_weights
from ui.hosting.bounds import VALUE_BYTES
from ui.labels import error_markdown
from ui.layout import stop_run
from ui.state import APP, Field

AWAY_VARIABLE = "ATTENTION_RAY_AWAY"  # while the cluster does not answer: "here" = compute here, "wait" = wait for it
KNOWS_CLUSTER_AWAY = Field(APP, "knows_cluster_away", False)
"""Whether this visitor has read that the cluster does not answer."""


@cache
def cluster() -> Cluster | None:
    """Return the cluster on which models compute, one for all visitors; None = they compute here."""
    return Cluster(os.environ[ADDRESS]) if os.environ.get(ADDRESS) else None


def call_cluster(function: Callable[..., Any], *args: Any, **kwargs: Any) -> ComputedValue | None:
    """Call a function on the cluster; None = call it here.

    None without a cluster, while it does not answer (the visitor reads so), and if it cannot compute this.
    """
    remote = cluster()
    while remote is not None:
        try:
            result = ComputedValue(remote.call(function, *args, **kwargs))
            KNOWS_CLUSTER_AWAY.value = False
            return result
        except AwayError:
            if not _should_wait():
                if not KNOWS_CLUSTER_AWAY.value:
                    st.toast(f"The cluster {remote.fault}. This is computed here.")
                KNOWS_CLUSTER_AWAY.value = True
                return None
            _wait_for_cluster(remote)
        except (LostError, ValueError):  # what is wrong shows when it is computed here
            log.warning("%s did not compute %s", remote.name, function, exc_info=True)
            return None
    return None


def describe_compute_device() -> str:
    """Return on what models compute, in words for visitors."""
    local, remote = _local_device(), cluster()
    if remote is None:
        return f"Computing on {local}"
    try:
        return f"Computing on a cluster: {remote.device()}"
    except AwayError:
        return f"The cluster {remote.fault}. " + ("Waiting for it" if _should_wait() else f"Computing on {local}")


@st.cache_resource(show_spinner=False)
def _local_device() -> str:
    return describe_device(choose_device())


def _should_wait() -> bool:
    return os.environ.get(AWAY_VARIABLE) == "wait"


def _wait_for_cluster(remote: Cluster) -> None:
    """Wait until the cluster answers; a visitor who leaves the page ends the wait."""
    notice = st.empty()
    while remote.is_away:
        notice.info(f"The cluster {remote.fault}. Waiting for it.")
        time.sleep(POLL_SECONDS)
    notice.empty()


@st.cache_resource(show_spinner="Loading the model")
def _load(name: str, device: str) -> Any:  # the class depends on the name
    return load(name, device)  # unbounded: all files together are some 60 MB


@st.cache_resource(max_entries=4, show_spinner="Loading the snapshots")
def load_snapshots(name: str) -> dict[str, Tensor]:
    """Return the parameters saved while a model was trained, see attention_core.train."""
    return read_weights(f"{name}.snapshots")


def model_or_stop(name: str) -> Any:
    """Return a trained model; if its file is missing or damaged, draw what to do about it and end the run."""
    model, fault = model_or_fault(name)
    if model is None:
        st.error(f"**The model cannot be loaded.** {error_markdown(fault)}", icon=":material/error:")
        stop_run()
    return model


def model_or_fault(name: str) -> tuple[Any, str]:
    """Return a trained model and "", or None and what to do about its missing or damaged file."""
    try:
        return _load(name, choose_device()), ""
    except WeightsError as error:
        log.warning("%s cannot be loaded", name, exc_info=True)
        return None, strip_folders(str(error))


def card_or_empty(name: str) -> dict[str, Any]:
    """Return a model's card, see read_card; empty when it is missing or damaged."""
    try:
        return read_card(name)
    except WeightsError:
        log.warning("The card of %s cannot be read", name, exc_info=True)
        return {}


Params = ParamSpec("Params")
Value = TypeVar("Value")


class FairLock:
    """A lock for the runs of many visitors: the earliest run goes first; its holder may acquire it again.

    A run acquires the lock several times. If it queued at the back each time, all runs would advance side by side and
    all end late: so runs are numbered in the order of their first requests. Each has its thread and ends at some time.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._queue: list[tuple[int, int, threading.Event]] = []
        """Of each waiting run its number, thread, and the event that wakes it, in the order of the numbers."""
        self._numbers, self._run = count(), threading.local()
        self._holder, self._depth = 0, 0

    def __enter__(self) -> None:
        note_requested("compute", again=True)
        thread, wake = threading.get_ident(), threading.Event()
        with self._guard:
            if not hasattr(self._run, "number"):
                self._run.number = next(self._numbers)
            if self._holder in (0, thread):
                self._holder, self._depth = thread, self._depth + 1
                return
            insort(self._queue, (self._run.number, thread, wake))
        wake.wait()

    def __exit__(self, *error: object) -> None:
        note_released("compute")
        with self._guard:
            self._depth -= 1
            if self._depth:
                return
            self._holder = 0
            if self._queue:
                (_, self._holder, wake), self._depth = self._queue.pop(0), 1
                wake.set()


COMPUTE_LOCK = FairLock()


@contextmanager
def compute_turn() -> Iterator[None]:
    """Wait for this visitor's turn to compute, so that many visitors do not slow each other down.

    Use it as a decorator or around a block; it may be nested. Gradients are off inside.
    """
    with COMPUTE_LOCK, torch.inference_mode():
        yield


def cached_computation(
    *, spinner: str = "", on_cluster: bool = False
) -> Callable[[Callable[Params, Value]], Callable[Params, Value]]:
    """Cache what a function returns, for all visitors; the least recently used is dropped: `@cached_computation()`.

    Arguments are compared by content, tensors and arrays by their numbers. The function must not read the session,
    since its result is shown to everybody.

    Args:
        spinner: what visitors read while it is computed; "" = nothing.
        on_cluster: whether it is computed on the cluster if there is one. Such a function must stand in
            attention_core: `cached_translate = cached_computation(on_cluster=True)(translate)`.

    Raises:
        ValueError: the cluster does not have the function.
    """

    def decorate(function: Callable[Params, Value]) -> Callable[Params, Value]:
        name = function_name(function)
        if on_cluster and not is_ours(function.__module__):
            raise ValueError(f"{name} is to be computed by a model: it must stand in one of {', '.join(PACKAGES)}")

        @wraps(function)
        def cached(*args: Params.args, **kwargs: Params.kwargs) -> Value:
            key = name, content_key(args), content_key(kwargs)
            result = result_cache().get(key)
            if result is not None:
                return result.value
            with st.spinner(spinner) if spinner else nullcontext():
                result = call_cluster(function, *args, **kwargs) if on_cluster else None
                if result is not None:
                    result_cache().put(key, result.value)
                    return result.value
                with compute_turn():
                    result = result_cache().get(key)  # the visitor before may have computed the same
                    if result is None:
                        result = ComputedValue(function(*args, **kwargs))
                        result_cache().put(key, result.value)  # before the turn ends
            return result.value

        return cached

    return decorate


def by_model(function: Callable[Concatenate[Any, Params], Value]) -> Callable[Concatenate[str, Params], Value]:
    """Make a function of the library that takes a model first take its name instead; see cached_computation."""
    cached = cached_computation(on_cluster=True)(function)

    @wraps(function)
    def by_name(name: str, *args: Params.args, **kwargs: Params.kwargs) -> Value:
        return cached(model_or_stop(name), *args, **kwargs)

    return by_name


def content_key(value: Any) -> Hashable:
    """Return a hashable key, equal for values of equal content."""
    if isinstance(value, Tensor | nn.Module) and (origin := getattr(value, "origin", None)):
        return origin  # of a loaded model or of one of its tensors or modules: (name, path)
    if isinstance(value, Tensor):
        value = to_array(value)
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, hashlib.sha1(np.ascontiguousarray(value).data).hexdigest()
    if isinstance(value, Mapping):
        return tuple((key, content_key(item)) for key, item in value.items())
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, content_key({field.name: getattr(value, field.name) for field in fields(value)})
    if isinstance(value, list | tuple) and {*map(type, value)} <= {str, int, float}:  # most are long lists of these
        return type(value).__name__, (*map(type, value),), tuple(value)
    if isinstance(value, list | tuple):
        return type(value).__name__, tuple(content_key(item) for item in value)
    return type(value).__name__, value


def size_in_bytes(value: Any) -> int:
    """Return roughly how many bytes a value needs; models are shared and count as none."""
    size, visited, pending = 0, set(), [value]
    while pending:
        item = pending.pop()
        if id(item) in visited:
            continue
        visited.add(id(item))
        if isinstance(item, list | tuple) and {*map(type, item)} == {str}:  # most lists are of labels
            size += sys.getsizeof(item) + sum(map(sys.getsizeof, item))
        elif isinstance(item, Tensor):
            size += item.untyped_storage().nbytes()
        elif isinstance(item, np.ndarray):
            size += item.nbytes
        elif not isinstance(item, nn.Module | type) and (hasattr(item, "__dict__") or not callable(item)):
            size += sys.getsizeof(item)
            pending += _members(item)
    return size


def _members(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [*value, *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if hasattr(value, "__dict__"):
        return list(vars(value).values())
    return [getattr(value, name) for name in getattr(value, "__slots__", ()) if hasattr(value, name)]


@st.cache_resource(show_spinner=False)
def result_cache() -> BoundedCache:
    """Return the cache of results for all visitors; “Clear cache” in Streamlit's menu empties it too."""
    return BoundedCache(VALUE_BYTES.maximum, size=size_in_bytes)
