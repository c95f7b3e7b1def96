"""What the film of a training shows; python -m pages.train.film makes the films of trainings that do not come along."""

import base64
import json
import tomllib
from collections.abc import Sequence
from typing import Any

import numpy as np

from attention_core.data.lessons import SIDE
from attention_core.files import find_file, read_figures
from attention_core.live_training.lesson import Look
from attention_core.live_training.live_run import LiveRun, recorded_run, usual_settings, verdict

WORDINGS = tomllib.loads(find_file("pages/train/lessons.toml").read_text(encoding="utf-8"))
LESSON_WORDINGS: dict[str, dict[str, Any]] = WORDINGS["lessons"]
FILMS_FILE = find_file("lessons") / "films.json"
FILMS = read_figures(FILMS_FILE)
"""What the film shows of a recorded training of a lesson, in the lesson's own example."""


def film_data(run: LiveRun, inputs: Any, looks: Sequence[Look]) -> dict[str, Any]:
    """Return what learning_film.js draws of a run, from its looks in an input after each of its frames."""
    frames, keys = run.frames[: len(looks)], looks[0].keys
    maps = [look.weights.mean(0) if keys.grid else look.weights for look in looks]
    max_weight = max(4 / len(keys), *(float(weights.max()) for weights in maps)) if keys.grid else 1.0
    pictures = [
        {
            "step": frame.step,
            "answer": look.answer,
            "verdict": verdict(run, number),
            "says": look.says,
            "right": look.is_right,
            "weights": _packed(weights / max_weight),
            "queries": [] if keys.grid else list(look.queries.labels),
            "accuracies": list(frame.accuracies.values()),
            "losses": list(frame.losses.values()),
        }
        for number, (frame, look, weights) in enumerate(zip(frames, looks, maps, strict=True), 1)
    ]
    return {
        "ink": _packed(inputs) if keys.grid else "",
        "side": SIDE,
        "even": 1 / (len(keys) * max_weight),
        "keys": [] if keys.grid else list(keys.labels),
        "frames": pictures,
        "names": list(run.models),
        "n_steps": run.n_steps,
        "isGraph": run.settings.lesson == "graph",
    }


def _packed(shares: np.ndarray) -> str:
    return base64.b64encode(np.rint(255 * np.clip(shares, 0, 1)).astype(np.uint8).tobytes()).decode()


if __name__ == "__main__":
    for lesson, wording in LESSON_WORDINGS.items():
        if "example" in wording and recorded_run(lesson) is None:
            run = LiveRun(usual_settings(lesson))
            while not run.is_done:
                run.advance()
            FILMS[lesson] = film_data(run, None, [run.look(frame, wording["example"]) for frame in run.frames])
    FILMS_FILE.write_text(json.dumps(FILMS, ensure_ascii=False), encoding="utf-8")
