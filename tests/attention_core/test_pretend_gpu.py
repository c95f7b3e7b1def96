"""What tests/on_a_gpu asks for works on a GPU; a pretend one here, in a process of its own."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

FOLDER = Path(__file__).parents[1] / "on_a_gpu"
START = """
import sys
from tests.support.pretend_cuda import pretend_cuda
pretend_cuda()
import pytest
sys.exit(pytest.main(["-p", "no:cacheprovider", "--tb=short", "--junitxml", sys.argv[1], *sys.argv[2:]]))
"""
PARTS = sorted(path.stem for path in FOLDER.glob("*.py"))


@pytest.fixture(scope="module")
def done(root, tmp_path_factory):
    """The process that ran all parts, and each part's tests as JUnit tells them."""
    report = tmp_path_factory.mktemp("gpu") / "report.xml"
    command = [sys.executable, "-c", START, str(report), *(str(FOLDER / f"{part}.py") for part in PARTS)]
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=900)
    tests = ElementTree.parse(report).findall(".//testcase") if report.exists() else []
    return ran, {part: [test for test in tests if test.get("classname").split(".")[-1] == part] for part in PARTS}


@pytest.mark.parametrize("part", PARTS)
def test_part_works_on_a_gpu(done, part):
    ran, tests = done
    told = ran.stdout[-6000:] + ran.stderr[-2000:]
    assert ran.returncode in (0, 1), told  # 1: tests failed
    assert tests[part], told
    assert not [test.get("name") for test in tests[part] if {one.tag for one in test} & {"failure", "error"}], told
