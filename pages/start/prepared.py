"""What Start shows before any model is there; `python -m benchmarks.start_page` writes it to answers.json."""

import json
from typing import Any

from attention_core.data.colours import PEN
from attention_core.data.presets import SCENES, scene_strokes
from pages.start.first_screen import QUESTION, SENTENCE, listed
from pages.start.live_answers import SIDE, roles_line, scene_answer, sentence_answer

PENS = ("red", "orange", "green", "blue", "purple")


def answers() -> dict[str, Any]:
    """Return what Start shows before any model is there."""
    strokes = scene_strokes(SCENES["Five colours"], SIDE)
    scene = {"pens": [[name, PEN[name]] for name in PENS], "strokes": listed(strokes)}
    content = {
        "words": sentence_answer(SENTENCE),
        "scene": scene | scene_answer(strokes, QUESTION),
        "roles": roles_line(),
    }
    return json.loads(json.dumps(content))
