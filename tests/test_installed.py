"""The wheel, installed elsewhere: library, types, commands and app work without the repository."""

import asyncio
import os
import subprocess
import sys
import sysconfig
import urllib.request
import venv
from pathlib import Path

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

import attention_core
from tests.support import tiny_hub
from tests.support.installed_scripts import LIBRARY, RECORD, SCRIPT, STRICT
from tests.support.server import free_port
from tests.support.session import Session
from ui.faults import RESTART_NOTICE


@pytest.fixture(scope="module")
def installed(root, tmp_path_factory):
    """A folder elsewhere and the programs of an environment that has the wheel and what this one has."""
    folder = tmp_path_factory.mktemp("elsewhere")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")]
    subprocess.run(build, cwd=root, check=True, capture_output=True)
    venv.create(folder / "env", with_pip=False, symlinks=True)
    (packages,) = (folder / "env").glob("lib/python*/site-packages")
    (packages / "around.pth").write_text(sysconfig.get_path("purelib"))
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "env/bin/python"), "install"]
    pip += ["--quiet", "--no-index", "--no-compile"]
    subprocess.run([*pip, "--no-deps", *map(str, (folder / "dist").iterdir())], check=True)
    (folder / "work" / "ui").mkdir(parents=True)  # a folder of a person's own that is called like one of ours
    (folder / "work" / "ui" / "__init__.py").write_text("raise RuntimeError('not of this app')")
    tiny_hub.write_decoder(folder / "work" / "tiny")
    return folder / "work", folder / "env" / "bin"


def done(installed, program, *arguments):
    folder, programs = installed
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(programs / program), *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def test_the_library_records_a_model_and_reads_the_recording(installed, root):
    recorded = done(installed, "python", "-c", RECORD)
    assert recorded.returncode == 0, recorded.stderr
    read = done(installed, "python", "-W", "error", "-c", LIBRARY)
    assert read.returncode == 0, read.stderr
    file, version, *_ = read.stdout.split()
    assert not Path(file).is_relative_to(root)
    assert version == attention_core.__version__
    assert read.stdout.endswith("['decoder.0.self', 'decoder.1.self'] The animal was tired.\n")


def test_a_script_of_ones_own_is_typed(installed):
    (installed[0] / "script.py").write_text(SCRIPT)
    (installed[0] / "strict.ini").write_text(STRICT)
    options = ["--config-file", "strict.ini", "--python-executable", str(installed[1] / "python"), "script.py"]
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", *options], cwd=installed[0], capture_output=True, text=True, timeout=300
    )
    assert checked.returncode == 0, checked.stdout


class Told(Session):
    """Keeps what the server says of itself when a visitor arrives."""

    def _handle(self, message: ForwardMsg) -> None:
        if message.WhichOneof("type") == "new_session":
            self.new = message.new_session
        super()._handle(message)


def test_the_command_opens_a_recording_in_the_app(installed):
    async def visit(address: str) -> None:
        visitor = Told(address)
        answer = await visitor.open("model")
        assert not answer.faults
        assert "**run.npz**: 2 calls of attention, 8 heads" in " ".join(visitor.texts("markdown"))
        assert visitor.new.config.gather_usage_stats is False
        assert visitor.new.custom_theme.primary_color == "#0072B2"
        await visitor.close()
        (app,) = programs.parent.glob("lib/python*/site-packages/attention_core/bundled/app.py")
        app.touch()  # which Streamlit, if it watched, would tell by itself
        later = Session(address)
        await later.open("model")
        assert RESTART_NOTICE in later.texts("alert")
        await later.close()

    folder, programs = installed
    if not (folder / "run.npz").exists():
        done(installed, "python", "-c", RECORD)
    port = free_port()
    options = ["--server.port", str(port), "--server.headless=true", "--server.address", "127.0.0.1"]
    server = subprocess.Popen(
        [str(programs / "attention-explorer"), *options, "run.npz"],
        cwd=folder,
        env={**os.environ, "ATTENTION_WARM": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        for line in server.stdout:
            if "URL" in line:
                break
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=20) as health:
            assert health.read() == b"ok"
        asyncio.run(visit(f"http://127.0.0.1:{port}"))
    finally:
        server.terminate()
        rest = server.communicate(timeout=20)[0]
    assert "Traceback" not in rest
