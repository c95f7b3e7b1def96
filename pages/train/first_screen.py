"""The first screen: the lesson, its settings, the button that starts the training, and its film."""

from dataclasses import asdict
from typing import Any

import numpy as np
import streamlit as st

from attention_core.attention.wording import percent
from attention_core.data.lessons import SIDE
from attention_core.data.mnist import DataError
from attention_core.live_training.graphs import NODES
from attention_core.live_training.lesson import LiveSettings, Look
from attention_core.live_training.live_run import CLEAR_DIFFERENCE, LESSONS, LiveRun, initial_run, usual_settings
from pages.train.film import FILMS, LESSON_WORDINGS, WORDINGS, film_data
from pages.train.training import Training, TrainingStage
from ui.canvas import Pad, digit_presets, draw_pad, readable_content
from ui.component import component
from ui.computed import cached_computation, compute_turn
from ui.digits import prepared
from ui.hosting.bounds import SENTENCE_LETTERS
from ui.labels import error_markdown
from ui.layout import stop_run
from ui.navigation import open_question
from ui.state import Field, between, expander, one_of, running_visitor, single_choice
from ui.try_this import NOT_TRIED, TRY_STAGE, TryThis, is_answered, is_guessing

NAME = "train"
PARSERS: dict[str, Any] = {"lesson": one_of(LESSONS), "share": int, "seed": between(0, 9_999)}
SETTINGS = {
    name: Field(NAME, f"set_{name}", default, address=name, parse=PARSERS.get(name))
    for name, default in (asdict(LiveSettings()) | {"lesson": "graph"}).items()
}
"""What is set of a training, by name."""
LESSON = SETTINGS["lesson"]
CHOICES = {"size": "Size", "rate": "Learning rate", "share": "Per cent of the examples", "score": "Score"}
TEXTS = {
    name: Field(NAME, name, lesson["example"], address=name)
    for name, lesson in LESSON_WORDINGS.items()
    if "example" in lesson
}
PAD = Pad(NAME, digit_presets(), first="3")
TRAINING = Field[Training | None](NAME, "training", None)
"""The visitor's training."""
RELINKED = LESSON_WORDINGS["graph"]["relinked"]
"""The edges of the graph's example, but that A and D, B and C are joined instead of A and B, C and D."""
NEW_EDGES = sorted({*RELINKED.split()} - {*TEXTS["graph"].default.split()})
HAS_TRAINED = Field(NAME, "has_trained", False, address="trained")
"""Whether this address has seen a training of the visitor's, which ends with the visit and with the server."""
LOOKS = Field[dict[tuple[int, str], list[Look]]](NAME, "looks", dict)
"""What was looked at in the present input, by the run and the input."""
CHANGES, HAS_CHANGED = Field(NAME, "changes", False, address="changes"), Field(NAME, "has_changed", False)
"""Whether the settings are open; whether a button has begun or stopped a training since the whole page ran."""
WAS_ON = Field(NAME, "was_on", False)
"""Whether a training was on as the whole page ran."""
BEAT = 1.0  # seconds between two pictures of a training
_initial_run = st.cache_resource(max_entries=6, show_spinner="Building the networks")(initial_run)
_film = component("learning_film", folder="pages/train")


def is_on() -> bool:
    return TRAINING.value is not None and TRAINING.value.is_on


def page_beat() -> float | None:
    """Return the seconds between two runs of what follows a training, None while there is none; for the whole page."""
    WAS_ON.value = is_on()
    return BEAT if is_on() else None


def current_settings() -> LiveSettings:
    """Return the settings; what the lesson does not offer has its usual value."""
    offer, chosen = LESSONS[LESSON.value], {name: field.value for name, field in SETTINGS.items()}
    usual = {"size": "medium", "rate": "usual", "share": 100, "score": offer.score[0], "broken": ""}
    return LiveSettings(**chosen | {k: v for k, v in usual.items() if chosen[k] not in getattr(offer, k)})


def query_text(settings: LiveSettings) -> str:
    """Return the sentence that says what query and key are in a training."""
    lesson = LESSON_WORDINGS[settings.lesson]
    return lesson.get("queries", {}).get(settings.broken, lesson["query"])


@cached_computation()
def _recorded_looks(settings: LiveSettings, inputs: Any) -> list[Look]:
    run = _initial_run(settings)
    return [run.look(frame, inputs) for frame in run.frames]


def current_training() -> Training:
    """Return the visitor's training, or the recorded one; ends the page where its data are missing."""
    training, settings = TRAINING.value, current_settings()
    if HAS_TRAINED.value and training is None:
        st.info("The training that was here has gone with its visit, or with the server. This is what comes along.")
    if training and (training.is_on or training.run.settings == settings):
        return training
    try:
        return Training(_initial_run(settings))
    except DataError as error:
        st.error(error_markdown(error), icon=":material/error:")
        stop_run()


def set_training(training: Training | None) -> None:
    """Set the visitor's training, None = none; the one before is paused."""
    if TRAINING.value:
        TRAINING.value.pause()
    TRAINING.value, HAS_CHANGED.value, HAS_TRAINED.value = training, True, training is not None
    if training:
        for name, field in SETTINGS.items():
            field.value = getattr(training.run.settings, name)


def start() -> None:
    """Begin a training anew, with the settings of now."""
    set_training(Training(LiveRun(current_settings())))
    resume()


def resume() -> None:
    if training := TRAINING.value:
        training.resume(*running_visitor())
    HAS_CHANGED.value = True


def choose_lesson() -> None:
    titles = {name: lesson["title"] for name, lesson in LESSON_WORDINGS.items()}
    single_choice("What it learns", LESSON, titles, label_visibility="collapsed", disabled=is_on())


def draw_input() -> tuple[Any, str]:
    """Draw the input of the lesson; return it as the model reads it, with a text that identifies it."""
    if LESSON.value == "digits":
        pad = draw_pad(PAD)
        drawing = prepared(readable_content(PAD, pad, not pad.strokes).canvas)
        image = np.asarray(drawing.image).reshape(SIDE, 2, SIDE, 2).mean((1, 3))
        return image, image.tobytes().hex()
    field = TEXTS[LESSON.value]
    label = LESSON_WORDINGS[LESSON.value].get("label", "Your sentence")
    text = field.widget(st.text_input, label, max_chars=SENTENCE_LETTERS.maximum).strip() or field.default
    return text, text


def change_settings() -> None:
    offer = LESSONS[LESSON.value]
    with expander("Change the settings", CHANGES):
        for name, label in CHOICES.items():
            if len(offered := getattr(offer, name)) > 1:
                SETTINGS[name].clamp_to_options([*offered], getattr(current_settings(), name))
                single_choice(label, SETTINGS[name], [*offered], disabled=is_on(), wrap=True)
        SETTINGS["seed"].widget(st.number_input, "Seed", 0, 9_999, disabled=is_on())


def draw_learning(training: Training, inputs: Any, text: str) -> None:
    """Draw the buttons and the film; runs again every second while the network learns."""
    training.note_visitor()
    if HAS_CHANGED.value or training.is_on != WAS_ON.value:
        HAS_CHANGED.value = False
        st.rerun()  # the whole page, so that the fragment's clock begins or ends
    if remark := training.run.lesson.remark(text):
        st.info(remark)
    with st.container(key="train_run"):
        draw_film(training, inputs, text)
        with st.container(horizontal=True, gap="small", vertical_alignment="center", key="train_buttons"):
            _buttons(training, is_primary=relinked_guess(training, text) is None)
    if bridge := LESSON_WORDINGS[training.run.settings.lesson].get("bridge"):
        st.caption(bridge)


def recorded_film(run: LiveRun, text: str) -> dict[str, Any] | None:
    """Return the recorded film of a lesson's example where a run has the usual settings and has not begun, or None."""
    lesson, is_usual = run.settings.lesson, run.settings == usual_settings(run.settings.lesson)
    is_example = lesson in TEXTS and text == TEXTS[lesson].default
    return FILMS.get(lesson) if is_usual and is_example and not run.step else None


def _buttons(training: Training, *, is_primary: bool) -> None:
    is_visitors = training is TRAINING.value
    if training.is_on:
        st.button("Pause", key="train_pause", icon=":material/pause:", on_click=training.pause)
    elif training.run.step and training.stage is TrainingStage.RESTS:
        st.button("Go on", key="train_go_on", icon=":material/play_arrow:", type="primary", on_click=resume)
    else:
        again = training.stage is TrainingStage.DONE and is_visitors
        label, icon = f"Train it here ({training.run.lesson.seconds} s)", ":material/play_arrow:"
        if again:
            label, icon = "Train again", ":material/replay:"
        st.button(
            label,
            key="train_start",
            icon=icon,
            type="primary" if is_primary and not again else "secondary",
            on_click=start,
        )
    if is_visitors and training.stage is not TrainingStage.DONE:
        st.button("Stop and clear", key="train_stop", icon=":material/stop:", on_click=set_training, args=(None,))
    n, left = training.n_before, training.seconds_left
    captions = {
        TrainingStage.WAITS: f"{n} training{'s' * (n > 1)} before yours." if n else "It begins.",
        TrainingStage.TRAINS: f"{left:.0f} s left" if left else "It learns.",
        TrainingStage.RESTS: "It rests." if training.run.step else "",
        TrainingStage.DONE: f"Trained in {training.seconds:.0f} s."
        if training.seconds and not training.first_step
        else "Trained."
        if is_visitors
        else "",
    }
    if caption := training.remark or captions[training.stage]:
        st.caption(caption)


def looks_of(run: LiveRun, inputs: Any, text: str) -> list[Look]:
    """Return what a run looks at in an input, for each of its frames."""
    cached = LOOKS.value = {which: looks for which, looks in LOOKS.value.items() if which[1] == text}
    looks, frames = cached.setdefault((id(run), text), []), list(run.frames)
    if not looks and run is _initial_run(run.settings):
        looks += _recorded_looks(run.settings, inputs)
    if len(looks) < len(frames):
        with compute_turn():
            looks += [run.look(frame, inputs) for frame in frames[len(looks) :]]
    return looks


def draw_film(training: Training, inputs: Any, text: str) -> None:
    film = None if training.is_on else recorded_film(training.run, text)
    wording = LESSON_WORDINGS[training.run.settings.lesson]
    data = {"name": str(id(training.run)), "live": training.is_on, "title": wording["measure"]}
    is_asking = training.run.settings.lesson == "graph" and is_guessing(NAME)
    sentences = [query_text(training.run.settings)]  # it names the answer
    if "case" in wording and text == wording["example"]:
        sentences.append(wording["case"])
    caption = " ".join((*sentences, wording.get("caption", WORDINGS["caption"])))
    data |= {"caption": wording["asked"] if is_asking else caption, "reasons": wording.get("reasons", [])}
    data["isTried"] = TRY_STAGE[NAME].value != NOT_TRIED
    data["isAlone"] = open_question(NAME) is None
    data["relinked"] = [[NODES.index(node) for node in edge] for edge in NEW_EDGES] if is_asking else []
    _film(key="train_film", data=data | (film or film_data(training.run, inputs, looks_of(training.run, inputs, text))))


def restore_graph() -> None:
    """Join the nodes of the graph again as in its example once the answer about other edges is closed."""
    if TEXTS["graph"].value == RELINKED and not is_answered(NAME):
        TEXTS["graph"].reset()


def _relink() -> None:
    TEXTS["graph"].value = RELINKED


def relinked_guess(training: Training, text: str) -> TryThis | None:
    """Return the question what a trained network makes of edges that no graph of its training had, or None."""
    run, is_example = training.run, text in (TEXTS["graph"].default, RELINKED)
    if not (run.settings.lesson == "graph" and run.is_done and is_example and not run.settings.broken):
        return None

    def outcome() -> tuple[int, str]:
        look = looks_of(run, RELINKED, RELINKED)[-1]
        weights = dict(zip(NODES, look.weights[0].tolist(), strict=True))
        first, second = sorted(weights, key=lambda node: -weights[node])[:2]
        option = 2 if weights[first] - weights[second] < CLEAR_DIFFERENCE else 0 if first == "D" else 1
        right = "right" if look.is_right[0] else "wrong"
        learned = " It has learned to compare colours, not which nodes belong together." if first == "D" else ""
        return option, f"A gives {first} **{percent(weights[first])}** and answers {look.says[0]}: {right}.{learned}"

    return TryThis(
        "join A with D, not B",
        "A is joined with D instead of B, B with C. No graph of the training had such edges. Where will A's weight go?",
        ("To D", "To E or I", "To D, E and I alike"),
        _relink,
        outcome,
        "train_film",
        subject=text,
    )
