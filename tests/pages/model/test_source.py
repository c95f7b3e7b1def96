"""Choosing a model and its input, without a browser: the package, the hub, links, folders, and what goes wrong."""

from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from attention_core.hub import load
from attention_core.hub.catalogue import PACKAGE, local_models
from tests.support.app import rerun, set_value, text_of
from tests.support.hostile import png
from tests.support.tiny_hub import write_reader
from tests.support.waiting import wait_until

SCRIPT = """
import streamlit as st
from pages.model.input import choose_input
from ui.model_runs import latest_request, model_choice, pretrained_of, remember_request, run_of
from ui.state import read_address, write_address

read_address("model")
key = model_choice("model").draw()
if key is not None:
    given = choose_input("model", pretrained_of(key))
    if given is not None:
        run = run_of(key, given)
        remember_request(key, given)
        assert latest_request() == (key, given)
        st.text(f"{run.model}: {len(run.recording)} traces of {len(run.tokens)}, {len(run.target_tokens)}")
write_address()
"""


@pytest.fixture
def opened(hub, root, monkeypatch):
    """A function that opens the sections, with an address."""
    monkeypatch.chdir(root)

    def open_(**address):
        page = AppTest.from_string(SCRIPT, default_timeout=60)
        page.query_params.update(address)
        return rerun(page)

    yield open_
    from ui.model_runs import free_models

    free_models()


def asked(page, name):
    page.text_input(key="model_asked").set_value(name)
    page.button(key="FormSubmitter:model_form-Load").click()
    rerun(page)
    return page


def arrived(page):
    """Wait for a download as the page's fragment does."""
    wait_until(lambda: not rerun(page).session_state["model_waits"])
    return rerun(page)


def shown(page):
    return page.text[0].value


def damaged(model_folders, folder, monkeypatch, **files):
    """Let a folder of the owner's hold a model's settings and other files."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_bytes((model_folders / "decoder" / "config.json").read_bytes())
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_bytes(content)
    monkeypatch.setenv("ATTENTION_MODELS", str(folder.parent))


def test_a_stranger_without_a_network_meets_a_real_model(opened):
    page = opened()
    assert shown(page).startswith(f"{PACKAGE}: 6 traces of ")
    assert page.session_state["model_key"] == PACKAGE
    assert not page.query_params  # a plain address stays plain
    assert any("2.0 GB" in caption.value for caption in page.caption)
    page.button(key="model_example_Question and answer").click()
    rerun(page)
    assert page.text_area(key="model_second_encoder").value.startswith("The animal")
    assert shown(page).startswith(f"{PACKAGE}: 6 traces of 17")


def test_a_model_of_the_hub_is_fetched_after_a_click_and_shown(opened, hub):
    page = asked(opened(), "someone/tiny")
    arrived(page)
    assert shown(page).startswith("someone/tiny: 2 traces")
    assert page.query_params["model"] == "someone/tiny"
    assert page.selectbox(key="model_picked").value == "someone/tiny"
    assert shown(set_value(page.selectbox(key="model_picked"), PACKAGE)).startswith(PACKAGE)


def test_on_a_public_server_a_visitor_reads_no_name_of_a_model_that_another_has_fetched(opened, hub, monkeypatch):
    def everything(page) -> str:
        return "\n".join(str(element.proto) for element in page if hasattr(element, "proto"))

    monkeypatch.setenv("ATTENTION_HOSTED", "1")
    first = arrived(asked(opened(), "someone/tiny"))
    assert "someone/tiny" in everything(first)
    second = opened()
    assert "someone/tiny" not in everything(second)
    assert "someone/tiny" not in everything(asked(second, "someone/tinyy")).replace("someone/tinyy", "")
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    away = everything(asked(second, "nobody/nothing"))
    assert "cannot be reached" in away
    assert PACKAGE in away
    assert "someone/tiny" not in away.replace("someone/tinyy", "")
    assert shown(asked(second, "someone/tiny")).startswith("someone/tiny")  # who knows the name may look at it
    monkeypatch.setenv("ATTENTION_HOSTED", "0")
    assert "someone/tiny" in opened().selectbox(key="model_picked").options


def test_models_on_this_machine_are_found_by_the_field_too(opened):
    page = opened()
    for model in local_models():
        assert shown(asked(page, model.name)).startswith(model.name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nobody/nothing", "There is no model"),
        ("a b", "no name of a model"),
        ("", "Name a model"),
        ("/no/such", "folder"),
    ],
)
def test_a_model_that_cannot_be_had_leaves_the_one_before(opened, name, said):
    page = asked(opened(), name)
    assert said in page.error[0].value
    assert shown(page).startswith(PACKAGE)
    assert page.text_input(key="model_asked").value == name


def test_a_link_shows_what_is_there_and_fetches_nothing_without_a_click(opened, hub, model_folders, monkeypatch):
    page = opened(model="someone/tiny")
    assert "Load fetches it" in page.info[0].value
    assert page.text_input(key="model_asked").value == "someone/tiny"
    assert not hub.asked
    monkeypatch.setenv("ATTENTION_MODELS", str(model_folders))
    assert shown(opened(model="decoder")).startswith("decoder: 2 traces")


def test_folders_open_for_the_owner_alone(opened, model_folders, monkeypatch):
    folder = str(model_folders / "decoder")
    monkeypatch.setenv("ATTENTION_HOSTED", "0")
    page = opened(model=folder)
    assert shown(page).startswith("decoder: 2 traces")
    assert page.query_params["model"] == folder
    monkeypatch.setenv("ATTENTION_HOSTED", "1")
    page = opened(model=folder)
    assert "only where the app runs on your own computer" in page.error[0].value
    assert shown(page).startswith(PACKAGE)
    assert "folder" not in page.text_input(key="model_asked").label


@pytest.mark.parametrize(
    ("address", "headers", "hosted", "allowed"),
    [
        (None, {"Origin": "http://localhost:8501"}, "", True),
        (None, {"Origin": "http://127.0.0.1:8501"}, "1", False),
        ("10.0.0.7", {"Origin": "http://localhost:8501"}, "", False),
        ("10.0.0.7", {"Origin": "http://demo.example"}, "0", True),
        (None, {"Origin": "https://demo.example"}, "", False),
        (None, {"X-Forwarded-For": "10.0.0.7"}, "", False),
    ],
)
def test_who_sits_at_the_machine_is_told_from_the_connection(monkeypatch, address, headers, hosted, allowed):
    import streamlit

    from ui.model_runs import may_open_folders

    monkeypatch.setenv("ATTENTION_HOSTED", hosted)
    monkeypatch.setattr(streamlit, "context", SimpleNamespace(ip_address=address, headers=headers))
    assert may_open_folders() is allowed


def test_a_damaged_folder_leaves_the_model_before(opened, model_folders, tmp_path, monkeypatch):
    damaged(model_folders, tmp_path / "models" / "broken", monkeypatch, model__safetensors=b"\x10" * 500_000)
    page = set_value(opened().selectbox(key="model_picked"), "broken")
    assert "broken cannot be loaded" in page.error[0].value
    assert shown(page).startswith(PACKAGE)
    assert page.selectbox(key="model_picked").value == PACKAGE  # never the failed one's name above other heads
    assert rerun(page).selectbox(key="model_picked").value == PACKAGE
    assert "model" not in page.query_params


def test_a_folder_without_safetensors_is_named_beside_the_list(opened, model_folders, tmp_path, monkeypatch):
    damaged(model_folders, tmp_path / "models" / "pickled", monkeypatch, pytorch_model__bin=b"pickled")
    page = opened()
    assert "pickled" not in page.selectbox(key="model_picked").options
    told = next(caption for caption in page.caption if "Not in the list" in caption.value)
    assert "`pickled`" in told.value
    assert "can run code when it is opened (pytorch_model.bin)" in told.proto.help


def test_with_no_model_at_all_the_page_says_how_to_get_one(opened, monkeypatch):
    monkeypatch.setattr("attention_core.hub.catalogue.PACKAGE", "no-such-package")
    monkeypatch.setattr("attention_core.hub.catalogue._bundled", lambda: iter(()))
    page = opened()
    assert "No model is on this machine yet" in page.info[0].value
    assert not page.text


def test_a_model_that_has_gone_gives_way_to_another(opened, model_folders, monkeypatch):
    monkeypatch.setenv("ATTENTION_MODELS", str(model_folders))
    page = opened(model="decoder")
    monkeypatch.delenv("ATTENTION_MODELS")
    from ui.model_runs import free_models

    free_models()
    assert shown(rerun(page)).startswith(PACKAGE)
    assert "is not on this machine" in page.error[0].value


def test_visitors_go_on_while_a_model_is_loaded_for_another(opened):
    page = opened()
    with load._LOADING:
        page = set_value(page.text_area(key="model_text_encoder"), "While somebody else waits.")
        assert shown(page).startswith(f"{PACKAGE}: 6 traces of 7")


def test_an_encoder_decoder_takes_a_target(opened, model_folders, monkeypatch):
    monkeypatch.setenv("ATTENTION_MODELS", str(model_folders))
    page = opened(model="both")
    assert ", 0" not in shown(set_value(page.text_area(key="model_second_encoder-decoder"), "Das Tier"))


def test_an_empty_text_and_a_long_one(opened):
    page = set_value(opened().text_area(key="model_text_encoder"), "  ")
    assert "text is empty" in page.info[0].value
    assert "of 512, 0" in shown(set_value(page.text_area(key="model_text_encoder"), "every word " * 50_000))


def test_a_vision_model_takes_the_drawing_or_a_picture(opened, model_folders, monkeypatch):
    monkeypatch.setenv("ATTENTION_MODELS", str(model_folders))
    page = opened(model="vision")
    assert shown(page).startswith("vision: 2 traces of 17")
    page = set_value(page.button_group(key="model_way"), "Upload")
    assert not page.text
    assert "knows 2 classes alone: class 0, class 1." in text_of(page)
    page.file_uploader[0].upload("mine.png", png(), "image/png")
    assert shown(rerun(page)).startswith("vision: 2 traces of 17")
    before = latest_picture(page)
    page.file_uploader[0].upload("mine.png", b"\x89PNG damaged", "image/png")
    rerun(page)
    assert "The picture before it stays" in page.error[0].value
    assert latest_picture(page) == before


def test_a_model_that_reads_both_takes_a_picture_beside_the_text_or_the_text_alone(opened, tmp_path, monkeypatch):
    folder = tmp_path / "reader"
    folder.mkdir()
    write_reader(folder, "llava")
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    page = opened(model="reader")
    page = set_value(page.text_area(key="model_text_decoder"), "Das Tier war")
    assert shown(page).startswith("reader: 4 traces of 19")
    page = set_value(page.button_group(key="model_way"), "Text alone")
    assert shown(page).startswith("reader: 2 traces of 3")


def latest_picture(page):
    return page.session_state["model_latest"]["png"]
