"""Start without a browser: what is shown at once is what the models say; every page has its card."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from attention_core.files import find_file
from ui.navigation import PAGES
from ui.start.animations import FIRST_DIGIT, SENTENCE, TRANSLATOR, first_answers
from ui.start.live_answers import drawing_answer, sentence_answer

PAGE = "pages/start.py"


def test_page_opens_and_leads_everywhere(page):
    links = {link.proto.page for link in page.get("page_link")}
    assert {entry.url_path for entry in PAGES[1:]} <= links


def test_every_page_has_a_photograph():
    for entry in PAGES[1:]:
        with Image.open(find_file(f"ui/assets/start/{entry.name}.webp")) as photograph:
            assert photograph.size == (480, 270)
            assert np.asarray(photograph).std() > 5, f"the photograph of {entry.name} shows nothing"


def test_first_drawing_is_what_the_network_says():
    told = drawing_answer(FIRST_DIGIT)
    shown = np.asarray(Image.open(find_file("ui/assets/start/looks.png"))).astype(int)
    assert shown.shape == (784, 784)
    now = np.asarray(Image.open(io.BytesIO(told.pop("looks")))).astype(int)
    assert np.abs(shown - now).max() <= 17  # one of its levels: rounding differs from machine to machine
    assert (shown != now).mean() < 0.01
    assert first_answers()["drawing"] == told


def test_first_translation_is_what_the_network_says():
    told, shown = json.loads(json.dumps(sentence_answer(SENTENCE, TRANSLATOR))), first_answers()["words"]
    for name in ("weights", "probabilities"):
        assert np.allclose(np.array(told.pop(name), float), np.array(shown.pop(name), float), atol=2e-3)
    assert shown == told


@pytest.mark.parametrize("digit", [0, 7])
def test_another_digit_is_computed(page, digit):
    page.session_state["start_digit"] = digit
    page.run()
    assert any(f"reads **{digit}**" in caption.value for caption in page.caption)
