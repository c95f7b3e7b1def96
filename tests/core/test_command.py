"""The command attention-explorer: what it writes, and what it says where something is wrong."""

import runpy
import sys

import pytest

from attention_core import __version__, load_recording
from attention_core.command import needs
from attention_core.command.main import main

TEXT = "The animal was tired."


def fault(*arguments) -> str:
    """Return what the command says before it ends with status 1."""
    with pytest.raises(SystemExit) as ended:
        main([str(one) for one in arguments])
    assert str(ended.value).startswith("attention-explorer: ")
    return str(ended.value)


def test_a_model_is_fetched_run_and_recorded_and_all_of_it_is_told(hub, tmp_path, capsys):
    file = tmp_path / "run.npz"
    main(["trace", "someone/tiny", TEXT, "-o", str(file)])
    told = capsys.readouterr().err
    for words in ("Looking for someone/tiny", "Fetching: ", "Loading someone/tiny", "Running", "run.npz: 2 attentions"):
        assert words in told
    recording = load_recording(file)
    assert (recording.model, recording.text) == ("someone/tiny", TEXT)
    assert "animal" not in recording[0].story.query_axis.labels[0]
    assert "".join(recording[0].story.query_axis.labels) == TEXT


@pytest.mark.parametrize(("ending", "begins"), [("svg", b"<svg"), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_all_heads_become_a_figure(hub, stored, tmp_path, ending, begins, capsys):
    file = tmp_path / f"run.{ending}"
    main(["trace", str(stored / "both"), TEXT, "-o", str(file)])
    assert file.read_bytes().startswith(begins)
    assert "shows the attention of the encoder self" in capsys.readouterr().err
    if ending == "svg":
        assert ">Every head of " in file.read_text()


def test_a_recording_becomes_a_page_of_its_own(hub, stored, tmp_path):
    file = tmp_path / "run.html"
    main(["trace", str(stored / "both"), TEXT, "-o", str(file)])
    page = file.read_text()
    assert page.startswith("<!doctype html>")
    assert "default-src 'none'" in page
    assert "encoder.0.self" in page


def test_faults_that_a_person_can_mend_are_told_in_a_line(hub, stored, tmp_path):
    file = tmp_path / "run.npz"
    assert ".npz, .html, .svg" in fault("trace", "someone/tiny", TEXT, "-o", tmp_path / "run.doc")
    assert "there is no folder" in fault("trace", "someone/tiny", TEXT, "-o", tmp_path / "none" / "run.npz")
    (tmp_path / "folder.npz").mkdir()
    assert "it is a folder" in fault("trace", "someone/tiny", TEXT, "-o", tmp_path / "folder.npz")
    assert not hub.asked  # before any time is spent on the model
    assert "There is no model nobody/nothing" in fault("trace", "nobody/nothing", TEXT, "-o", file)
    assert "There is no folder" in fault("trace", tmp_path / "nothing", TEXT, "-o", file)
    assert "The text is empty" in fault("trace", stored / "decoder", " ", "-o", file)
    assert "takes a picture" in fault("trace", stored / "vision", TEXT, "-o", file)
    assert not file.exists()
    assert "there is no file" in fault(file)
    assert "one file, not 2" in fault("a.npz", "b.npz")


def test_a_file_that_cannot_be_written_is_told_although_the_folder_is_there(hub, stored, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("attention_core.attention.recording.write_traces", refuse)
    assert "No space left" in fault("trace", stored / "decoder", TEXT, "-o", tmp_path / "run.npz")
    monkeypatch.setattr("os.access", lambda *_: False)
    assert "permission denied" in fault("trace", stored / "decoder", TEXT, "-o", tmp_path / "run.npz")


def test_without_a_network_it_says_so(hub, tmp_path):
    hub.server_close()
    hub.shutdown()
    assert "The hub cannot be reached" in fault("trace", "someone/tiny", TEXT, "-o", tmp_path / "run.npz")


@pytest.mark.parametrize(
    ("missing", "extra", "arguments"),
    [
        ("transformers", "hub", ["trace", "someone/tiny", TEXT, "-o", "run.npz"]),
        ("vl_convert", "charts", ["trace", "someone/tiny", TEXT, "-o", "run.svg"]),
        ("streamlit", "app", []),
    ],
)
def test_an_extra_that_is_missing_is_named(monkeypatch, missing, extra, arguments):
    found = needs.find_spec
    monkeypatch.setattr(needs, "find_spec", lambda name: None if name == missing else found(name))
    assert fault(*arguments).endswith(
        f'{missing} is not installed: pip install "attention-explorer[{extra}]" brings it.'
    )


@pytest.mark.parametrize(
    ("given", "options", "files"),
    [
        ([], [], []),
        (["run.npz"], [], ["--", "run.npz"]),
        (["--server.port", "8600", "run.npz"], ["--server.port", "8600"], ["--", "run.npz"]),
        (["run.npz", "--server.port=8600"], ["--server.port=8600"], ["--", "run.npz"]),
    ],
)
def test_the_app_is_started_with_the_options_of_streamlit(monkeypatch, tmp_path, root, given, options, files):
    started = []
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.npz").touch()
    monkeypatch.setattr(sys, "argv", [])
    monkeypatch.setattr(runpy, "run_module", lambda name, **_: started.append((name, sys.argv)))
    main(given)
    ((name, argv),) = started
    assert name == "streamlit"
    assert argv[:3] == ["streamlit", "run", str(root / "app.py")]
    assert argv[5:7] == ["--browser.gatherUsageStats", "false"]
    assert argv[7:] == [*options, *files]


def test_it_explains_itself(capsys):
    main(["--help"])
    main(["--version"])
    told = capsys.readouterr().out
    assert "attention-explorer trace MODEL" in told
    assert told.endswith(f"attention-explorer {__version__}\n")
