"""The command attention-explorer: how it starts the app, and what it says where something is wrong."""

import runpy
import sys

import pytest

from attention_core import __version__
from attention_core.command import main, start


def fault(*arguments) -> str:
    """Return what the command says before it ends with status 1."""
    with pytest.raises(SystemExit) as ended:
        main([str(one) for one in arguments])
    assert str(ended.value).startswith("attention-explorer: ")
    return str(ended.value)


def test_faults_that_a_person_can_mend_are_told_in_a_line(tmp_path):
    assert "there is no file" in fault(tmp_path / "run.npz")
    assert "one file, not 2" in fault("a.npz", "b.npz")


@pytest.mark.parametrize(
    ("missing", "extra"), [("transformers", "hub"), ("vl_convert", "charts"), ("streamlit", "app")]
)
def test_an_extra_that_is_missing_is_named(monkeypatch, missing, extra):
    found = start.find_spec
    monkeypatch.setattr(start, "find_spec", lambda name: None if name == missing else found(name))
    assert fault().endswith(f'{missing} is not installed: pip install "attention-explorer[{extra}]" brings it.')


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
    assert told.startswith("attention-explorer  ")
    assert told.endswith(f"attention-explorer {__version__}\n")
