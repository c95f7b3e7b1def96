"""What all tests share. Nothing of the project is imported here, so that a broken module breaks its own tests only."""

import asyncio
import inspect
import os
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported: test runs side by side do not fight

os.environ.setdefault("ATTENTION_CHECK_LOCKS", "1")  # before attention_core.concurrency is imported

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each server that tests start compiles all of the app again

import hypothesis
import pytest

ROOT = Path(__file__).parents[1]
LONG = {"test_pretend_gpu", "test_hostile", "test_image", "test_uploads", "test_deploy", "test_strangers", "test_links"}
LONG |= {"test_installed", "test_live_training", "test_export", "test_train", "test_picture_bombs", "test_shown_code"}
LONG |= {"test_page_memory", "test_page_transformer", "test_figures", "test_queue", "test_package"}
NO_DATA = "the variable ATTENTION_DATA does not name a folder of data sets"

hypothesis.settings.register_profile("quick", max_examples=40, deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("quick")


def data_folder_or_none() -> Path | None:
    """The folder of the data sets, if the tests were given one."""
    named = os.environ.get("ATTENTION_DATA")
    return Path(named) if named and Path(named).is_dir() else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, so that no process works on one of them alone at the end."""
    items.sort(key=lambda item: (item.path.parent.name != "browser", item.path.stem not in LONG))


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
        from tests.app.tools import App
    monkeypatch.chdir(ROOT)
    return lambda: App(ROOT / "app.py", default_timeout=60).run()


@pytest.fixture
def app(start_app):
    """app.py, run once without a browser: `app.switch_page("pages/pixels.py").run()` goes to a page."""
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
    from tests import tiny_hub

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
    from tests import tiny_hub

    with tiny_hub.serving() as served:
        served.repositories["someone/tiny"] = stored / "decoder"
        tiny_hub.turn_to(served.endpoint, tmp_path / "cache", monkeypatch)
        yield served
