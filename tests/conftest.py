"""What all tests share. It imports the project only in functions, so that a broken module fails its own tests alone."""

import asyncio
import gc
import inspect
import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported: parallel test processes do not compete

os.environ.setdefault("ATTENTION_CHECK_LOCKS", "1")  # before attention_core.concurrency is imported

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else each server that tests start compiles the app anew

import hypothesis
import pytest

pytest_plugins = ("tests.support.app_fixtures", "tests.support.browser_fixtures", "tests.support.model_fixtures")

ROOT = Path(__file__).parents[1]
SLOW_FILES = {
    "attention_core/attention/test_export",
    "attention_core/attention/test_shown_code",
    "attention_core/live_training/test_live_run",
    "attention_core/test_picture_bombs",
    "attention_core/test_pretend_gpu",
    "attention_core/train/test_train",
    "deploy/test_deploy",
    "deploy/test_image",
    "pages/memory/test_page",
    "pages/test_each_lecture_browser",
    "pages/test_each_page_browser",
    "pages/test_each_try_this_browser",
    "pages/test_figures",
    "pages/test_hostile",
    "pages/test_links",
    "pages/test_new_page",
    "pages/transformer/test_page",
    "test_installed",
    "test_package",
    "ui/hosting/test_strangers",
    "ui/hosting/test_uploads",
    "ui/test_job_queue",
}
"""The test files that take longest, without "tests/" and ".py"."""
NO_DATA = "the variable ATTENTION_DATA does not name a folder of data sets"

hypothesis.settings.register_profile("quick", max_examples=40, deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("quick")


def data_folder_or_none() -> Path | None:
    """The folder of the data sets, if the variable ATTENTION_DATA names one."""
    folder = os.environ.get("ATTENTION_DATA")
    return Path(folder) if folder and Path(folder).is_dir() else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with browser tests, then slow files, so that no process works on one of them alone in the end."""

    def sort_key(item: pytest.Item) -> tuple[bool, bool]:
        path = item.path.relative_to(ROOT / "tests").with_suffix("").as_posix()
        return not path.endswith("_browser"), path not in SLOW_FILES

    items.sort(key=sort_key)


def pytest_collection_finish() -> None:
    """Exempt imported objects from garbage collection, which would go through all of torch again and again."""
    gc.freeze()


@pytest.fixture
def page(request: pytest.FixtureRequest):
    """The page of the test module as it opens, without a browser, see app_page; or in one, see browser_page."""
    return request.getfixturevalue(f"{_driver(request)}_page")


@pytest.fixture
def visit(request: pytest.FixtureRequest):
    """A function that opens the app at an address, without a browser or in one."""
    return request.getfixturevalue(f"{_driver(request)}_visit")


def _driver(request: pytest.FixtureRequest) -> str:
    return "browser" if request.path.stem.endswith("_browser") else "app"


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("data") and data_folder_or_none() is None:
        pytest.skip(NO_DATA)


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine."""
    if not inspect.iscoroutinefunction(pyfuncitem.function):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.function).parameters}
    asyncio.run(pyfuncitem.obj(**arguments))
    return True


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's folder."""
    return ROOT


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of the data sets; the test is skipped when there is none."""
    folder = data_folder_or_none()
    if folder is None:
        pytest.skip(NO_DATA)
    return folder
