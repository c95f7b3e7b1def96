"""What Start shows before any model is there; `python -m benchmarks.start_page` writes it to answers.json."""

import json
from typing import Any

from pages.start.first_screen import SENTENCE
from pages.start.live_answers import FIRST_QUESTION, first_strokes, scene_answer, sentence_answer


def answers() -> dict[str, Any]:
    """Return what Start shows before any model is there."""
    scene = scene_answer(first_strokes(), FIRST_QUESTION)
    content = {"words": sentence_answer(SENTENCE), "scene": scene}
    return json.loads(json.dumps(content))
