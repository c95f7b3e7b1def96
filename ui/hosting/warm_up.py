"""Warms a cold server: libraries are imported behind a painted page, and every page is visited once before visitors.

Transformers is imported without what no page needs of it, a compiler, algebra, clusters: 130 MB, two seconds less.
Torch tells its compiler about functions and asks algebra about sizes, although here nothing is compiled and all sizes
are numbers. Stand-ins answer that; when anything else is asked of one, all give place to the real modules.
"""

import asyncio
import ctypes
import gc
import os
import sys
import threading
import time
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import cache
from importlib import import_module
from operator import eq
from types import ModuleType
from typing import Any

import streamlit as st

from attention_core.bounds.limits import is_hosted
from attention_core.concurrency import Lock
from attention_core.files import note_missing
from attention_core.log import counting_repeats, log
from ui.inside_streamlit import (
    FirstVisitor,
    forget_what_visitors_left,
    keep_all_downloads,
    server_started,
    show_our_navigation,
)
from ui.navigation import PAGES

WITH_INDEX, INDEX = "torch._dynamo._trace_wrapped_higher_order_op", "TransformGetItemToIndex"
AWAY = ("is_scipy_available", "is_torch_distributed_available")
"""What transformers asks when it is imported."""
NEEDED = ("torch.nn.attention.bias", "transformers.masking_utils", "transformers.models.bert.modeling_bert")
"""They bring what all models of the library share."""


class StandIn(ModuleType):
    """Answers for a module; whatever it is not given is asked of the real one, which is imported for it."""

    def __init__(self, name: str, is_package: bool = False, **given: Any) -> None:
        super().__init__(name)
        self.__dict__.update(given)
        self._is_package = is_package

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and not (name == "__path__" and self._is_package):
            raise AttributeError(name)
        for module in [module for module in sys.modules.values() if isinstance(module, StandIn)]:
            del sys.modules[module.__name__]
        self.__dict__.update(vars(import_module(self.__name__)))
        return self.__dict__[name]


def _unmarked(function: Any = None, *_: Any, **__: Any) -> Any:
    return _unmarked if function is None else function


def _stand_ins() -> tuple[StandIn, ...]:
    marks = dict.fromkeys(("allow_in_graph", "assume_constant_result", "disable"), _unmarked)
    sizes = dict.fromkeys(("expect_true", "guard_or_false", "guard_or_true", "guard_size_oblivious"), bool)
    sizes |= {"sym_eq": eq, "is_nested_int": lambda size: False}
    return (
        StandIn("torch._dynamo", is_package=True, **marks, set_stance=lambda *_, **__: nullcontext()),
        StandIn(WITH_INDEX, **{INDEX: lambda: getattr(import_module(WITH_INDEX), INDEX)()}),
        StandIn("torch.fx.experimental.symbolic_shapes", **sizes),
        StandIn("sympy", is_package=True, Basic=type("Basic", (), {})),
    )


def import_transformers() -> None:
    """Import what models of the library share; what an upgrade has moved is imported with all that it brings."""
    if "torch._dynamo" in sys.modules:
        return
    sys.modules |= {module.__name__: module for module in _stand_ins()}
    before: list[tuple[ModuleType, str, Any]] = []
    try:
        for home in map(import_module, ("transformers.utils", "transformers.utils.import_utils")):
            for name in AWAY:
                before.append((home, name, getattr(home, name)))
                setattr(home, name, lambda: False)
        for name in NEEDED:
            import_module(name)
    except (ImportError, AttributeError):
        log.warning("The library transformers takes more memory than it should", exc_info=True)
    finally:
        sys.modules.pop(WITH_INDEX)  # else the real one cannot be imported
        for home, name, was in before:
            setattr(home, name, was)


SECONDS_BETWEEN = 15.0
SECONDS_TO_FETCH = 60.0
"""In which a browser has fetched what it asked for."""
ARENAS, MMAPPED = (-8, 2), (-3, 2**20)
"""Settings of glibc (malloc.h): memory pools for all threads together, and the bytes from which a piece has its own."""


def share_memory() -> None:
    """Let visitors' threads share memory, and large pieces go back when they are free; before there are threads."""
    for setting in (ARENAS, MMAPPED) if _glibc() else ():
        _glibc().mallopt(*setting)


async def keep_memory_small() -> None:
    """Free memory from time to time; for as long as the server runs."""
    await server_started()
    keep_all_downloads(SECONDS_TO_FETCH)
    while True:
        await asyncio.sleep(SECONDS_BETWEEN)
        with suppress(AttributeError, RuntimeError):  # of another version of Streamlit, or while a run adds some
            forget_what_visitors_left()
        await asyncio.to_thread(_give_back)


def _give_back() -> None:
    """Collect what no run needs any more, and let the system have the memory."""
    gc.collect()
    if _glibc():
        _glibc().malloc_trim(0)


@cache
def _glibc() -> Any:
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    return library if hasattr(library, "malloc_trim") else None


LIBRARIES = ("torch", "pandas", "attention_core.charts")
HEAD_START = 10.0
"""Seconds that a visitor who comes with the server has it alone."""
SECONDS_TO_PAINT = 0.3
"""Until the browser has what it shows meanwhile: an import leaves little to the thread that sends it."""
FEW_DESCRIPTORS = 4096
"""Files and connections; each open page takes one."""
SECONDS_OF_A_LINE = 60.0
"""Within which a line of the log is written once."""
_IMPORTED, _TURN = threading.Event(), Lock("import libraries")


def is_warm() -> bool:
    """Return whether what all pages need is imported."""
    return _IMPORTED.is_set()


def import_libraries() -> None:
    """Import what all pages need; a second thread waits for the first."""
    with _TURN:
        try:
            for name in () if is_warm() else LIBRARIES:
                with note_missing(name):
                    import_module(name)
            if not is_warm():
                import_transformers()
                freeze_garbage_collector()
        finally:
            _IMPORTED.set()  # what cannot be imported is told by the pages


def freeze_garbage_collector() -> None:
    """Let the collector of garbage look no more at what is there now: code, models, first examples."""
    gc.collect()
    gc.freeze()


async def _visit_all_pages() -> None:
    """Be the first visitor of every page, so that models and first examples are there for the next; at half speed."""
    await server_started()
    visitor = FirstVisitor()
    if os.environ.get("ATTENTION_WARM") == "0":
        return
    await asyncio.sleep(HEAD_START)
    await asyncio.to_thread(import_libraries)
    for entry in PAGES:
        began = time.monotonic()
        await visitor.visit(entry.url_path)
        await asyncio.sleep(time.monotonic() - began)
    await asyncio.to_thread(freeze_garbage_collector)


def allow_descriptors() -> None:
    """Let this process have as many files and connections as the system allows; on a public server say if few."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = 2**16 if hard == resource.RLIM_INFINITY else hard
    with suppress(OSError, ValueError):  # macOS allows less than it says
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, allowed), hard))
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if allowed < FEW_DESCRIPTORS and is_hosted():
        log.warning(
            "Only %s files and connections are allowed, each open page takes one; %s are right for a public server. "
            "The command ulimit -n, or LimitNOFILE= of systemd, raises it.",
            f"{allowed:,}",
            f"{FEW_DESCRIPTORS:,}",
        )


async def _every_minute(do: Callable[[], None]) -> None:
    while True:
        await asyncio.sleep(SECONDS_OF_A_LINE)
        do()


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[dict[str, Any]]:
    """Warm the server, beside whatever visitors ask of it, while it runs."""
    show_our_navigation()
    if not st.get_option("server.headless"):  # what Streamlit does for scripts, but not for an st.App
        webbrowser.open(f"http://localhost:{st.get_option('server.port')}")
    if is_hosted():
        st.set_option("client.showErrorDetails", "none")  # a traceback names files of the server
    allow_descriptors()
    share_memory()
    with counting_repeats() as tell_repeats:
        tasks = [
            asyncio.create_task(one) for one in (_visit_all_pages(), keep_memory_small(), _every_minute(tell_repeats))
        ]
        try:
            yield {}
        finally:
            for task in tasks:
                task.cancel()
