"""What tests/on_a_gpu asks for works on a GPU; a pretend one here, each part in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "on_a_gpu"
START = """
import sys
from tests.pretend_cuda import pretend_cuda
pretend_cuda()
import pytest
sys.exit(pytest.main(["-p", "no:cacheprovider", "--tb=short", sys.argv[1]]))
"""


@pytest.mark.parametrize("part", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_part_works_on_a_gpu(root, part):
    command = [sys.executable, "-c", START, str(FOLDER / f"{part}.py")]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
