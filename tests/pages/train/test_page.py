"""Train it yourself, without a browser: Start, Pause, the film, controls, one training at a time, files, bad input."""

import re

import pytest
import streamlit as st

from attention_core.device import choose_device
from attention_core.files import MISSING, find_file
from attention_core.live_training import live_run
from attention_core.live_training.digits import DigitLesson
from attention_core.live_training.lesson import EDGES, POSITION, LiveSettings
from attention_core.live_training.live_run import LESSONS, RECORDED_FOLDER, LiveRun
from attention_core.live_training.sentences import LENGTHS
from pages.train import training
from pages.train.training import Training, TrainingStage
from tests.support.app import (
    data_of,
    draw_strokes,
    html_with,
    open_page,
    open_question,
    rerun,
    set_fields,
    text_of,
)
from tests.support.waiting import wait_until
from ui.job_queue import queue_of

PAGE = "pages/train/page.py"


@pytest.fixture(autouse=True)
def short(monkeypatch, tmp_path):
    """Trainings of six batches, none of them recorded."""
    monkeypatch.setattr(DigitLesson, "n_steps", 6)
    monkeypatch.setattr(live_run, "RECORDED_FOLDER", tmp_path)
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@pytest.fixture
def page(page):
    """The page with the lesson of digits."""
    return set_fields(page, set_lesson="digits")


def until(stage: TrainingStage, training: Training) -> None:
    wait_until(lambda: training.stage is stage)


def trained(page, button: str = "train_start"):
    page.button(key=button).click().run()
    until(TrainingStage.DONE, page.session_state["train_training"])
    return page.run()


def put_back(page, content: bytes) -> None:
    rerun(page, take_along=True)
    page.file_uploader[0].upload("training.safetensors", content, "application/octet-stream")
    page.run()


def film(page) -> dict:
    return data_of(page, "train_film")


def test_it_arrives_with_a_recorded_training_and_one_obvious_button(app, monkeypatch):
    monkeypatch.setattr(DigitLesson, "n_steps", 1200)
    monkeypatch.setattr(live_run, "RECORDED_FOLDER", RECORDED_FOLDER)
    page = open_page(app, PAGE)
    nodes = film(page)["frames"]
    assert (nodes[0]["right"].count(True) < 6, nodes[-1]["right"]) == (True, [True] * 12), "it learns to ask a graph"
    assert page.button(key="train_start").label == "Train it here (8 s)"
    for name in LESSONS.keys() - {"digits"}:
        set_fields(page, set_lesson=name)
        assert len(film(page)["frames"]) > 9, name
    set_fields(page, set_lesson="digits")
    assert [button.label for button in page.button if button.proto.type == "primary"] == ["Train it here (45 s)"]
    assert film(page)["frames"][-1]["step"] == film(page)["n_steps"] == 1200
    attention, equal, _ = film(page)["frames"][-1]["accuracies"]
    assert attention > 0.8
    assert equal < 0.5
    assert "Reads 3 (>99%)" in film(page)["frames"][-1]["answer"]
    assert "**Attention did the work**" in film(page)["frames"][-1]["verdict"]
    assert "too early to tell" in film(page)["frames"][0]["verdict"], "of what is seen"
    draw_strokes(page, [])
    page.button(key="train_preset_7").click().run()
    assert "Reads 7" in film(page)["frames"][-1]["answer"], "of one's own drawing"
    set_fields(page, set_seed=3)
    assert [frame["step"] for frame in film(page)["frames"]] == [0], "other settings have no film yet"


def test_nodes_that_are_joined_anew_find_their_colour_and_are_parted_again_with_the_answer(app, monkeypatch):
    monkeypatch.setattr(live_run, "RECORDED_FOLDER", RECORDED_FOLDER)
    page = open_page(app, PAGE)
    before = film(page)["frames"][-1]["weights"]
    page.button(key="train_try").click().run()
    assert film(page)["frames"][-1]["weights"] == before, "what is asked about stands"
    page.segmented_control(key="train_try_guess").set_value(0).run()
    assert "**Right**: A gives D **90%** and answers 3: right." in page.success[0].value
    assert (film(page)["frames"][-1]["says"][0], film(page)["frames"][-1]["right"]) == ("3", [True] * 12)
    page.button(key="train_try_close").click().run()
    assert film(page)["frames"][-1]["weights"] == before
    set_fields(page, graph="AB")
    assert not [button for button in page.button if button.key == "train_try"], "these are other edges"


def test_it_trains_and_says_what_attention_is_worth(page):
    trained(page)
    assert [frame["step"] for frame in film(page)["frames"]] == [0, 1, 2, 3, 4, 5, 6]
    assert [len(frame["losses"]) for frame in film(page)["frames"]] == [0, 3, 3, 3, 3, 3, 3]
    assert film(page)["names"] == ["with attention", "every weight equal", "no attention"]
    verdict = film(page)["frames"][-1]["verdict"]
    assert re.search(r"\*\*.*ttention.*\*\*\. [<>]?\d+% right, [<>]?\d+% with", verdict)
    assert "passed >99% of a gradient at first" in text_of(open_question(page, "sharp"))
    open_question(page, "")
    assert page.button(key="train_start").label == "Train again"
    before = film(page)["frames"]
    draw_strokes(page, [])
    page.button(key="train_preset_7").click().run()
    assert [frame["weights"] for frame in film(page)["frames"]] != [frame["weights"] for frame in before]


@pytest.mark.parametrize("name", LESSONS)
def test_words_are_those_of_the_lesson_that_is_shown(page, name, monkeypatch):
    monkeypatch.setattr(LESSONS[name].make, "n_steps", 2, raising=False)
    for lesson, (batch_size, *_) in LENGTHS.items():
        monkeypatch.setitem(LENGTHS, lesson, (batch_size, 2, 1))
    from pages.train.first_screen import LESSON_WORDINGS, WORDINGS

    set_fields(page, set_lesson=name)
    assert "never" not in text_of(page).split("\n")[0], "equal weights do well enough in some lessons"
    trained(page)
    open_question(page, "work")
    heads = re.findall("<th>(.*?)</th>", html_with(page, 'class="figures"'))
    assert heads[1] == film(page)["title"].lower(), "the same is counted"
    known = [one.answer for looks in page.session_state["train_looks"].values() for one in looks]
    assert film(page)["frames"][-1]["answer"] == known[-1]
    assert ("of a gradient at first" in text_of(open_question(page, "sharp"))) == (name != "triples")
    open_question(page, "changed")
    seen = WORDINGS["seen"] | LESSON_WORDINGS[name].get("seen", {})
    for broken in WORDINGS["seen"]:
        if broken in LESSONS[name].broken:
            assert seen[broken] in text_of(set_fields(page, set_broken=broken))
    if name == "digits":
        assert "ink and position" in film(page)["caption"]
        assert "ink and position" not in film(set_fields(page, set_broken=POSITION))["caption"]
    if name == "graph":
        set_fields(page, set_broken=EDGES, graph="AB")
        assert "asks all nodes" in film(page)["caption"]
        assert "without neighbours" not in text_of(page)


def test_what_is_left_of_a_training_that_was_put_back_is_not_told_as_its_whole_time(page):
    run = LiveRun(LiveSettings())
    while run.step < run.n_steps - 1:
        run.advance()
    put_back(page, run.checkpoint())
    trained(page, "train_go_on")
    assert "Trained." in text_of(page)
    assert "Trained in" not in text_of(page)


def test_it_can_be_broken(page):
    trained(set_fields(page, question="changed", set_broken="labels"))
    assert page.session_state["train_training"].run.settings.broken == "labels"


def test_pause_keeps_what_was_learned(page, monkeypatch):
    monkeypatch.setattr(DigitLesson, "n_steps", 2000)
    set_fields(page, set_seed=1)
    page.button(key="train_start").click().run()
    mine = page.session_state["train_training"]
    until(TrainingStage.TRAINS, mine)
    page.run()
    assert page.button(key="train_pause").label == "Pause"
    page.button(key="train_pause").click().run()
    until(TrainingStage.RESTS, mine)
    step = mine.run.step
    page.run()
    page.button(key="train_go_on").click().run()
    until(TrainingStage.TRAINS, mine)
    page.run()
    page.button(key="train_pause").click().run()
    until(TrainingStage.RESTS, mine)
    assert mine.run.step >= step
    page.run()
    page.button(key="train_stop").click().run()
    assert page.session_state["train_training"] is None
    assert [frame["step"] for frame in film(page)["frames"]] == [0]
    assert page.button(key="train_start").label.startswith("Train it here")


def test_one_trains_at_a_time_and_rests_when_its_visitor_has_left(monkeypatch):
    monkeypatch.setattr(DigitLesson, "n_steps", 2000)
    queue_of(choose_device(), "training")
    first, second = Training(LiveRun(LiveSettings())), Training(LiveRun(LiveSettings()))
    first.resume("a", "here")
    until(TrainingStage.TRAINS, first)
    second.resume("b", "there")
    n_steps = first.run.step
    wait_until(lambda: first.run.step > n_steps + 5 and second.n_before == 1)
    assert (second.stage, second.run.step) == (TrainingStage.WAITS, 0)
    monkeypatch.setattr(training, "PATIENCE", 0.2)
    until(TrainingStage.RESTS, first)
    assert "away" in first.remark
    until(TrainingStage.RESTS, second)


def test_a_public_server_has_every_lesson_and_lets_none_go_on_for_ever(monkeypatch):
    monkeypatch.setenv("ATTENTION_HOSTED", "1")
    monkeypatch.setattr(DigitLesson, "n_steps", 1200)
    runs = {name: LiveRun(LiveSettings(name, [*one.size][-1], score=one.score[0])) for name, one in LESSONS.items()}
    one = Training(runs["digits"])
    one.seconds = 301
    one.resume("a", "here")
    until(TrainingStage.RESTS, one)
    assert (one.run.step, one.remark) == (0, "It has computed for 300 seconds, the most here.")


def test_unknown_words_and_files_of_strangers_are_told(page):
    set_fields(page, set_lesson="grammar", grammar="the purple car")
    assert "It never meets *purple*" in text_of(page)
    assert "It learns a, apple, big" in text_of(page)
    assert film(page)["keys"] == ["the", "purple", "car", "end"]
    set_fields(page, set_lesson="triples", triples="seven")
    assert "“seven” is not a whole number" in text_of(page)
    assert film(page)["keys"][-1] == "nobody"
    set_fields(page, set_lesson="lookup", lookup="dctor", changes=True)
    assert film(page)["frames"][-1]["queries"] == ["dctor"]
    assert film(page)["keys"][2] == "doctor = 7"
    put_back(page, b"nothing")
    assert "no training that was saved here" in text_of(page)


def test_a_training_is_put_back(page):
    run = LiveRun(LiveSettings(seed=7, size="small"))
    run.advance()
    put_back(page, run.checkpoint())
    assert page.session_state["train_set_seed"] == 7
    assert [frame["step"] for frame in film(page)["frames"]] == [0, 1]
    assert page.button(key="train_go_on").label == "Go on"


def test_without_its_data_the_page_says_what_to_do(app, monkeypatch, tmp_path):
    from attention_core.data import lessons

    monkeypatch.setattr(lessons, "find_file", lambda name: tmp_path)
    lessons.small_digits.cache_clear()
    half = find_file("lessons/digits.npz").read_bytes()[:100_000]
    for content, words in ((None, "digits.npz does not exist"), (half, "not a readable .npz")):
        if content:
            (tmp_path / lessons.DIGITS).write_bytes(content)
        app.query_params["lesson"] = "digits"
        said = open_page(app, PAGE).error[0].value
        assert words in said
        assert "Fetch it" in said
        assert lessons.DIGITS in MISSING, "health tells"
    MISSING.clear()
    lessons.small_digits.cache_clear()


def test_a_training_that_has_gone_is_told_and_not_passed_off_as_the_recorded_one(app_visit):
    shown = app_visit("train", trained="1")
    assert "has gone with its visit" in shown.info[0].value
    shown = app_visit("train")
    assert not shown.info
