"""Recordings as files and as notebook output, in a real browser without a network or a server."""

import json
import re
import sys
from types import SimpleNamespace

import pytest
import torch
from playwright.sync_api import expect

from attention_core.attention.recording import Recording
from attention_core.attention.steps import steps_of
from attention_core.attention.types import Axis
from tests.support.on_page import moving_cell
from tests.support.view_samples import NASTY, every_kind, made

MATRICES = """() => Promise.all(document.querySelector('[data-attention]').view.heads.map((heads) =>
    Promise.all(heads.map(async (head) => [...(await head.load()).matrix()]))))"""


@pytest.fixture
def opened(context, tmp_path):
    """Opens pages without a network; afterwards nothing was fetched, nothing complained about, nothing foreign run."""
    context = context.browser.new_context(offline=True, viewport={"width": 1300, "height": 900})
    page, faults = context.new_page(), []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith("file:") else faults.append(asked.url))

    def open_page(text: str):
        path = tmp_path / "run.html"
        path.write_text(text, encoding="utf-8")
        page.goto(path.as_uri())
        page.locator(".glance[data-painted]").first.wait_for()
        return page

    yield open_page
    assert page.evaluate("globalThis.ran") is None
    context.close()
    assert not faults


def test_weights_in_the_browser_are_those_of_the_library_for_every_kind_of_trace(opened):
    recording = every_kind()
    page = opened(recording.show().page())
    for trace, heads in zip(recording, page.evaluate(MATRICES), strict=True):
        for head, weights in enumerate(heads):
            found = torch.tensor(weights).reshape(trace.n_queries, trace.n_keys)
            assert (found - trace.weights(head)).abs().max() < 2e-3, trace.story.name


def test_where_there_is_little_room_no_weight_is_off_by_more_than_the_page_says(opened):
    axis = Axis.numbered("tokens", 200)
    recording = Recording([made("encoder.0.self", axis, axis, n_heads=3, is_causal=True)])
    shown = recording.show(max_bytes=60_000)
    assert shown.data["traces"][0]["heads"][1]["sparse"]
    page = opened(shown.page())
    found = torch.tensor(page.evaluate(MATRICES)[0]).reshape(3, 200, 200)
    off = (found - torch.stack([head.weights() for head in recording.heads])).abs().amax((1, 2))
    assert off[0] < 2e-3
    assert off.max() < shown.data["error"] + 1e-5
    page.locator(".token").nth(150).hover()
    written = re.findall(r"(<? ?[\d.]+)%", page.locator(".tip").first.inner_text())
    assert written
    error = shown.data["traces"][0]["heads"][0]["error"]
    assert all(text[0] == "<" or float(text) + 0.5 >= 100 * error for text in written)


def test_a_file_says_its_precision_once_and_the_open_head_has_its_own(opened):
    axis = Axis.numbered("tokens", 200)
    recording = Recording([made("encoder.0.self", axis, axis, n_heads=3, is_causal=True)])
    shown = recording.show(max_bytes=60_000)
    assert shown.data["error"] > 0.01
    page = opened(shown.page())
    points = f"{100 * shown.data['error']:.2g}"
    expect(page.get_by_text(f"none is off by more than {points} percentage points.")).to_have_count(1)
    expect(page.get_by_text("Rows ask, columns are looked at; the strongest shade is 100%.")).to_be_visible()
    tolerance = "() => document.querySelector('[data-attention]').view.tokenView.data.tolerance"
    assert page.evaluate(tolerance) == shown.data["traces"][0]["heads"][0]["error"] < 0.002
    page.locator(".thumb").nth(1).click()
    expect(page.locator(".main h3")).to_contain_text("L0H1")
    assert page.evaluate(tolerance) == shown.data["error"]


LISTEN = """<script>globalThis.written = []; { const { prototype } = CanvasRenderingContext2D, { fillText } = prototype;
prototype.fillText = function (text, ...rest) { written.push(text); fillText.call(this, text, ...rest); }; }</script>"""


def test_cells_of_weights_are_written_as_per_cents_and_never_rounded_to_0_or_1(opened):
    recording = Recording.from_weights([torch.tensor([[[0.998, 0.002], [0.4, 0.6]]])], tokens=["a", "b"])
    steps = [step for step in steps_of(recording[0]) if step.role == "weights"]
    page = opened(recording.show(steps=steps).page().replace("<body", f"{LISTEN}<body", 1))
    page.wait_for_function("written.includes('>99%')")
    assert {"<1%", "40%", "60%"} <= {*page.evaluate("written")}


def test_a_head_is_chosen_with_mouse_and_keys_and_its_tokens_say_where_they_look(opened):
    page = opened(every_kind().show(1, 1, query=4).page())
    heads, title, tip = page.locator(".thumb"), page.locator(".main h3"), page.locator(".tip").first
    expect(title).to_contain_text("L1H1")
    expect(tip).to_contain_text("it5 looks at")
    heads.nth(0).click()
    expect(title).to_contain_text("L0H0")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(title).to_contain_text("L1H0")
    heads.nth(1).click(modifiers=["Shift"])
    expect(title).to_contain_text("L1H0, L0H1")
    expect(page.locator(".pictures canvas")).to_have_count(2)
    page.locator(".token").nth(5).hover()
    expect(tip).to_contain_text(f"{NASTY}6 looks at")
    page.locator(".token").nth(2).click()
    expect(page.locator(".token").nth(2)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Shift+Tab")
    expect(page.locator("button:focus-visible")).to_have_text("Two columns")
    page.get_by_label("From one sentence to another").select_option(label="Sentence A → B")
    expect(page.locator(".tokens.query .token")).to_have_count(4)
    expect(page.locator(".tokens.key .token")).to_have_count(3)
    page.get_by_role("button", name="Two columns").click()
    page.get_by_role("button", name="decoder cross").click()
    expect(page.locator(".tokens.key .token")).to_have_count(7)


def test_patches_lie_over_the_picture_and_a_click_asks_from_one(opened):
    vision = Recording(every_kind().traces[8:9])
    picture = (torch.rand(20, 30, 3, generator=torch.Generator().manual_seed(0)) * 255).byte().numpy()
    page = opened(vision.show(picture=picture, grid=(2, 3)).page())
    expect(page.locator(".patches .under")).to_have_count(2)
    page.locator(".patches .matrix canvas:not(.under)").first.click(position={"x": 250, "y": 10})
    expect(page.locator(".patches figcaption").first).to_have_text("Where patch 1, 3 looks")


def test_steps_are_walked_through_and_hovered(opened):
    recording = every_kind()
    page = opened(recording.show(0, 1, steps=steps_of(recording[0])).page())
    expect(page.locator(".step b")).to_have_text("Scores")
    page.get_by_role("button", name="next step").click()
    expect(page.locator(".step b")).to_have_text("Scaled scores")
    page.get_by_role("button", name="Weights", exact=True).click()
    matrix = page.locator(".step canvas.moving")
    matrix.hover(position=moving_cell(matrix, 0, 0))
    expect(page.locator(".step .said")).to_have_text(f"[CLS] → [CLS]: {float(recording[0].weights(1)[0, 0]):.3g}")
    expect(page.locator(".pictures .cross")).to_be_visible()
    page.locator(".token").nth(1).hover()
    expect(page.locator(".step .said")).to_have_text("")
    assert matrix.evaluate("canvas => canvas.parentNode.view.cell") == [1, 1]


def test_several_views_in_one_notebook_page_do_not_disturb_each_other(opened):
    outputs = [every_kind().show(0, head)._repr_html_() for head in (0, 1)]
    page = opened(f"<!doctype html><style>* {{ color: red }}</style>{''.join(outputs)}<p>{json.dumps('after')}</p>")
    titles = page.locator(".main h3")
    expect(titles.nth(0)).to_contain_text("L0H0")
    expect(titles.nth(1)).to_contain_text("L0H1")
    page.locator("[data-attention]").nth(0).locator(".thumb").nth(3).click()
    expect(titles.nth(0)).to_contain_text("L1H1")
    expect(titles.nth(1)).to_contain_text("L0H1")


def weights_at(page, place=0):
    """Return the weights of the head that is open in one of the recordings of a page, as they are drawn."""
    script = "([host, at]) => [...host.views[at].open.at(-1).matrix()]"
    return torch.tensor(page.evaluate(script, [page.locator("[data-attention]").element_handle(), place]))


def slide(page, name: str, to: int):
    page.get_by_label(name).first.fill(str(to))


def test_a_barred_key_and_another_temperature_share_out_the_softmax_anew_without_a_network(opened):
    recording = every_kind()
    trace, barred = recording[0], 2
    page = opened(recording.show(0, 1, query=0).page())
    before = weights_at(page)
    page.get_by_role("button", name="Bar keys").click()
    page.locator(".token").nth(barred).click()
    expect(page.locator(".token").nth(barred)).to_have_class(re.compile("barred"))
    slide(page, "Temperature", 10)
    scores = trace.masked_scores(1)
    scores[:, barred] = -torch.inf
    wanted = (scores / 10**0.5).softmax(-1)
    expect(page.get_by_label("Temperature").first).to_have_value("10")
    page.wait_for_function("document.querySelector('[data-attention]').view.changes.temperature > 3")
    found = weights_at(page).reshape(wanted.shape)
    assert (found - wanted).abs().max() < 0.01
    assert (found - before.reshape(wanted.shape)).abs().max() > 0.1
    page.get_by_role("button", name="be looked at again").press("Enter")
    slide(page, "Temperature", 0)
    page.wait_for_function("document.querySelector('[data-attention]').view.changes.temperature === 1")
    expect(page.locator(".token.barred")).to_have_count(0)
    assert torch.equal(weights_at(page), before)


def test_a_key_is_barred_by_a_cell_of_the_matrix_and_weights_below_a_threshold_are_not_drawn(opened):
    page = opened(every_kind().show(0, 1, query=0).page())
    drawn = "() => document.querySelector('[data-attention]').view.matrices[0].canvas.getContext('2d')"
    pixels = f"() => [...({drawn})().getImageData(0, 0, 99, 99).data].filter((byte, at) => at % 4 === 3 && byte).length"
    before, shaded = page.evaluate(pixels), ".token[style*='--out']:not([style*='--out: 0%'])"
    assert page.locator(shaded).count() > 1
    slide(page, "Show no weights below", 50)
    page.wait_for_function("document.querySelector('[data-attention]').view.below === 0.5")
    page.wait_for_function(f"({pixels})() < {before}")
    expect(page.locator(shaded)).to_have_count(int((every_kind()[0].weights(1)[0] >= 0.5).sum()))
    slide(page, "Show no weights below", 0)
    page.get_by_role("button", name="Bar keys").click()
    canvas = page.locator(".pictures canvas")
    n, box = every_kind()[0].n_keys, canvas.bounding_box()
    canvas.click(position={"x": box["width"] * 2.5 / n, "y": 5})
    expect(page.locator(".token").nth(2)).to_have_class(re.compile("barred"))
    assert not weights_at(page).reshape(-1, n)[:, 2].any()


def test_two_recordings_side_by_side_follow_each_other_and_are_changed_apart(opened):
    first, second = every_kind(), Recording(list(every_kind().traces))
    page = opened(first.show(0, 0, beside=second).page())
    titles = page.locator(".main h3")
    expect(titles).to_have_count(2)
    page.locator(".glance").nth(0).locator(".thumb").nth(3).click()
    expect(titles.nth(0)).to_contain_text("L1H1")
    expect(titles.nth(1)).to_contain_text("L1H1")
    right = page.locator(".page").nth(1)
    right.locator(".token").nth(4).click()
    expect(page.locator(".page").nth(0).locator(".token").nth(4)).to_have_attribute("aria-pressed", "true")
    right.get_by_label("Temperature").fill("-20")
    page.wait_for_function("document.querySelector('[data-attention]').views[1].changes.temperature < 0.2")
    assert (weights_at(page, 0) - weights_at(page, 1)).abs().max() > 0.1


def test_a_widget_tells_python_the_cell_that_was_chosen_and_says_what_it_needs(opened, monkeypatch):
    recording, traits = every_kind(), SimpleNamespace(Dict=lambda: SimpleNamespace(tag=lambda sync: sync))

    class AnyWidget:
        def __init__(self, data):
            self.data = data

    monkeypatch.setitem(sys.modules, "traitlets", traits)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match="attention-explorer"):
        recording.show().widget()
    monkeypatch.setitem(sys.modules, "anywidget", SimpleNamespace(AnyWidget=AnyWidget))
    widget = recording.show(0, 1, query=0).widget()
    script = widget._esm.replace("export default", "const made =")
    data = json.dumps(widget.data).replace("<", "\\u003c")
    page = opened(
        f"<!doctype html><body><script>{script}\nconst told = {{}}; made.render({{ el: document.body, model: {{"
        f"get: () => ({data}), set: (name, value) => {{ told[name] = value; }},"
        "save_changes: () => { told.saved = true; } } });</script></body>"
    )
    canvas, n = page.locator(".pictures canvas"), recording[0].n_keys
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] * 1.5 / n, "y": box["height"] * 2.5 / n})
    told = page.evaluate("told")
    weight = float(recording[0].weights(1)[2, 1])
    assert abs(told["chosen"].pop("weight") - weight) < 2e-3
    assert told == {"chosen": {"layer": 0, "head": 1, "query": 2, "key": 1}, "saved": True}
    page.locator(".token").nth(3).click()
    assert page.evaluate("told.chosen") == {"layer": 0, "head": 1, "query": 3, "key": None, "weight": None}
