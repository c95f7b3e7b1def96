"""Both ways of the tour are walked, and every file that it names on them is entered."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
WALK = """
import json, sys, threading

sys.path.insert(0, {root!r})
import altair, pandas, streamlit.testing.v1, transformers, torch  # before calls are traced, which is slow

entered = set()

def note(frame, event, _):  # of a call alone, since it returns nothing to trace the lines with
    entered.add(frame.f_code.co_filename)

threading.settrace(note)
sys.settrace(note)
from attention_core.data.presets import preset_paths
from tests.support.app import App, draw_strokes, open_page, open_question, path_object, rerun

app = App("app.py", default_timeout=120).run()
page = open_page(app, "pages/pixels/page.py")
draw_strokes(page, [path_object(path) for path in preset_paths(5, 256)])
rerun(page, pixels_step="weights")
rerun(page, pixels_is_chart=True)
page = open_page(app, "pages/translate/page.py")
page.text_input(key="translate_text").set_value("The dog sees a green garden.").run()
for slug in ("alignment", "force"):
    open_question(page, slug)
sys.settrace(None)
print(json.dumps(sorted(entered)))
"""


def test_every_file_on_both_ways_is_entered() -> None:
    text = (ROOT / "docs/tour.md").read_text()
    ways = text[text.index("## The way of a drawing") : text.index("## What these two ways pass by")]
    named = set(re.findall(r"`((?:attention_core|ui|pages)/[\w./]+\.py)`", ways))
    assert len(named) > 30
    done = subprocess.run([sys.executable, "-c", WALK.format(root=str(ROOT))], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    entered = {Path(name) for name in json.loads(done.stdout.splitlines()[-1])}
    missing = {name for name in named if ROOT / name not in entered}
    assert not missing, f"docs/tour.md names what neither way enters: {sorted(missing)}"
