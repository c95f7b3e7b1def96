"""The command attention-explorer: it starts the app, and `attention-explorer run.npz` opens a file in it."""

import runpy
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from attention_core import __version__
from attention_core.files import find_file

USAGE = """\
attention-explorer                       start the app
attention-explorer run.npz               open a recording, or queries, keys and values, in the app
attention-explorer --server.port 8600    whatever `streamlit run` takes
attention-explorer --version"""
OURS = ("--server.showEmailPrompt", "false", "--browser.gatherUsageStats", "false")
NEEDS = {
    "app": ("streamlit", "streamlit_drawable_canvas", "starlette"),
    "charts": ("altair", "pandas", "PIL", "vl_convert"),
    "hub": ("transformers", "huggingface_hub", "httpx2"),
}
"""Packages of each extra that the app cannot do without."""


class CommandError(Exception):
    """What a person can mend; the message says how."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what the command line asks; an error that the user can mend is one line and exit status 1."""
    command_line = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if command_line[:1] in (["--help"], ["-h"]):
            print(USAGE)
        elif command_line[:1] == ["--version"]:
            print(f"attention-explorer {__version__}")
        else:
            start_app(command_line)
    except CommandError as error:
        sys.exit(f"attention-explorer: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def start_app(command_line: Sequence[str]) -> None:
    """Start the app with a file to open, if one is named, and with options of Streamlit, each with its value."""
    files, options = _split_arguments(command_line)
    if len(files) > 1:
        raise CommandError(f"the app opens one file, not {len(files)}: {', '.join(files)}\n{USAGE}")
    for file in files:
        if not Path(file).is_file():
            raise CommandError(f"there is no file {file}\n{USAGE}")
    for extra, packages in NEEDS.items():
        missing = [name for name in packages if find_spec(name) is None]
        if missing:
            raise CommandError(f'{missing[0]} is not installed: pip install "attention-explorer[{extra}]" brings it.')
    app = str(find_file("app.py"))
    sys.argv = ["streamlit", "run", app, *OURS, *options, *(["--", *files] if files else [])]
    runpy.run_module("streamlit", run_name="__main__")


def _split_arguments(command_line: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return files and options, where each option is followed by its value or holds it behind "="."""
    files: list[str] = []
    options: list[str] = []
    waits = False
    for argument in command_line:
        is_option = argument.startswith("--")
        (options if waits or is_option else files).append(argument)
        waits = is_option and "=" not in argument
    return files, options
