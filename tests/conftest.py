"""What all tests share. Nothing of the project is imported here, so that a broken module breaks its own tests only."""

import asyncio
import gc
import inspect
import os
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported: test runs side by side do not fight

os.environ.setdefault("ATTENTION_CHECK_LOCKS", "1")  # before attention_core.concurrency is imported

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each server that tests start compiles all of the app again

import hypothesis
import pytest

pytest_plugins = ("tests.support.app_fixtures", "tests.support.browser_fixtures")

ROOT = Path(__file__).parents[1]
LONG = {
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
"""The files that take longest, below tests/."""
NO_DATA = "the variable ATTENTION_DATA does not name a folder of data sets"

hypothesis.settings.register_profile("quick", max_examples=40, deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("quick")


def data_folder_or_none() -> Path | None:
    """The folder of the data sets, if the tests were given one."""
    named = os.environ.get("ATTENTION_DATA")
    return Path(named) if named and Path(named).is_dir() else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, so that no process works on one of them alone at the end."""

    def comes_late(item: pytest.Item) -> tuple[bool, bool]:
        path = item.path.relative_to(ROOT / "tests").with_suffix("").as_posix()
        return not path.endswith("_browser"), path not in LONG

    items.sort(key=comes_late)


def pytest_collection_finish() -> None:
    """Spare the collector of garbage what is imported, which stays: it would look at all of torch again and again."""
    gc.freeze()


@pytest.fixture
def page(request: pytest.FixtureRequest):
    """The module's page on arrival without a browser; in a file of browser tests a fresh visitor."""
    return request.getfixturevalue(f"{_kind(request)}_page")


@pytest.fixture
def visit(request: pytest.FixtureRequest):
    """A function that opens the app at an address, without a browser or in one."""
    return request.getfixturevalue(f"{_kind(request)}_visit")


def _kind(request: pytest.FixtureRequest) -> str:
    return "browser" if request.path.stem.endswith("_browser") else "app"


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("data") and data_folder_or_none() is None:
        pytest.skip(NO_DATA)


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine to its end."""
    if not inspect.iscoroutinefunction(pyfuncitem.function):
        return None
    given = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.function).parameters}
    asyncio.run(pyfuncitem.obj(**given))
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


@pytest.fixture
def start_app(monkeypatch: pytest.MonkeyPatch):
    """A function that runs app.py without a browser, for tests that prepare something first."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Streamlit's own imports; the app's runs are as strict as any test
        from tests.support.app import App
    monkeypatch.chdir(ROOT)
    return lambda: App(ROOT / "app.py", default_timeout=60).run()


@pytest.fixture
def app(start_app):
    """app.py, run once without a browser: `app.switch_page("pages/pixels/page.py").run()` goes to a page."""
    return start_app()


@pytest.fixture(scope="session")
def minilm():
    """The sentence encoder that comes as a package, loaded."""
    from attention_core.hub.catalogue import PACKAGE, find_local
    from attention_core.hub.load import load_pretrained

    return load_pretrained(find_local(PACKAGE).folder, name=PACKAGE)


@pytest.fixture(scope="session")
def stored(tmp_path_factory):
    """Folders of tiny models, as a directory of the owner's; one holds files, too, that nobody asks a hub for."""
    from tests.support import tiny_hub

    root = tmp_path_factory.mktemp("stored")
    tiny_hub.write_encoder(root / "masked")
    tiny_hub.write_decoder(root / "decoder")
    tiny_hub.write_encoder_decoder(root / "both")
    tiny_hub.write_vision(root / "vision")
    (root / "decoder" / "pytorch_model.bin").write_bytes(b"pickled")
    (root / "decoder" / "model.onnx").write_bytes(b"x" * 100_000)
    return root


@pytest.fixture
def hub(stored, tmp_path, monkeypatch):
    """A hub with a tiny decoder, and an empty cache."""
    from tests.support import tiny_hub

    with tiny_hub.serving() as served:
        served.repositories["someone/tiny"] = stored / "decoder"
        tiny_hub.turn_to(served.endpoint, tmp_path / "cache", monkeypatch)
        yield served
