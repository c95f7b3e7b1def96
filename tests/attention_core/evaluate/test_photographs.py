"""Figures of asked photographs: boxes over regions, means over questions, photographs of one's own."""

from io import BytesIO

import pytest
import torch
from PIL import Image
from torch.testing import assert_close

from attention_core.data.photographs import load_photographs
from attention_core.evaluate.__main__ import main as evaluate
from attention_core.evaluate.photographs import greyed_photo_subject, inside, photo_figures
from attention_core.faithfulness.assessment import three_orders
from attention_core.faithfulness.attribution import curves_of
from attention_core.inference.photographs import (
    TRAINED_SIDE,
    ask_photograph,
    class_query,
    encode_photograph,
    photo_names,
    scale_photograph,
)
from attention_core.models import load
from attention_core.models.photo_network import GREY
from attention_core.weights import read_card

NAMES = photo_names()


def test_boxes_cover_parts_of_regions_and_none_twice():
    assert_close(inside((2, 2), [(0, 0, 0.5, 0.5), (0, 0, 0.25, 0.25)]), torch.tensor([1.0, 0, 0, 0]))
    assert_close(inside((1, 4), [(0.125, 0.5, 0.5, 1)]), torch.tensor([0.25, 0.5, 0, 0]))


def test_the_photographs_are_free_small_and_have_boxes():
    photographs, names = load_photographs(), photo_names()
    assert len(photographs) == 20
    assert sum(len(one.content) for one in photographs.values()) < 1_200_000
    for one in photographs.values():
        image = Image.open(BytesIO(one.content))
        assert (image.format, max(image.size) <= 640) == ("JPEG", True)
        assert one.licence in {"CC0", "public domain", "CC BY 2.0", "CC BY 3.0", "CC BY 4.0"}
        assert one.author
        assert one.source
        assert set(one.classes) <= set(names)
        for left, top, right, bottom in (box for boxes in one.classes.values() for box in boxes):
            assert 0 <= left < right <= 1
            assert 0 <= top < bottom <= 1


def test_figures_are_those_of_the_card():
    model, photographs = load("photo-classifier", "cpu"), load_photographs()
    targets = {name: (photographs[name].content, photographs[name].classes) for name in ("bee", "wine")}
    figures, card = photo_figures(model, targets), read_card("photo-classifier")["photographs"]
    assert figures["n"] == 4
    by_name = {(row["photograph"], row["class"]): row for row in card["questions"]}
    for row in figures["questions"]:
        expected = by_name[row["photograph"], row["class"]]
        assert row["attended"] == pytest.approx(expected["attended"], abs=0.01)
        assert row["control"] == pytest.approx(expected["control"], abs=0.01)
        assert row["weight_inside"] == pytest.approx(expected["weight_inside"], abs=0.01)
        assert row["peak_inside"] == expected["peak_inside"]
    mean = sum(row["attended"] for row in figures["questions"]) / 4
    assert figures["temperature_1"]["attended"] == pytest.approx(mean, abs=1e-3)
    assert card["n"] == sum(len(one.classes) for one in photographs.values())
    assert card["temperature_1"]["weight_inside"] > 3 * card["temperature_1"]["area_of_boxes"]


def test_regions_become_grey_first_where_attention_looks():
    model, content, row = (
        load("photo-classifier", "cpu"),
        load_photographs()["astronaut"].content,
        NAMES.index("football helmet"),
    )
    photo, small = encode_photograph(model, content), scale_photograph(content, TRAINED_SIDE)
    weights = ask_photograph(model, photo, class_query(model, row)).weights().view(photo.grid)
    subject = greyed_photo_subject(model, content, weights, row)
    curves = curves_of(subject, three_orders(subject))
    grey = torch.full_like(small, GREY)
    with torch.no_grad():
        whole, nothing = model(torch.stack([small, grey])).logits.softmax(1)[:, row].tolist()
    for curve in curves.values():
        assert curve.probability[0] == pytest.approx(whole, abs=1e-4)
        assert curve.probability[-1] == pytest.approx(nothing, abs=1e-4)
    attended, _, at_random = (curve.area for curve in curves.values())
    assert attended < at_random / 2
    rows, columns = photo.grid
    height, width = (side // n for side, n in zip(small.shape[1:], photo.grid, strict=True))
    small[:, height : 2 * height, 3 * width : 4 * width] = GREY
    erased = torch.zeros(1, rows * columns, dtype=torch.bool)
    erased[0, columns + 3] = True
    with torch.no_grad():
        expected = model(small[None]).logits.softmax(1)[0, row]
    assert_close(subject.erase(erased).flatten()[0], expected, atol=1e-5, rtol=1e-4)


def test_photographs_of_ones_own_are_named(tmp_path, capsys):
    for name, photograph in (("espresso", "coffee"), ("tripod", "camera"), ("bee", "coffee")):
        (tmp_path / "right" / name).mkdir(parents=True)
        (tmp_path / "right" / name / "a.jpg").write_bytes(load_photographs()[photograph].content)
    assert evaluate(["photo-classifier", str(tmp_path / "right"), "--device", "cpu"]) == 0
    assert "accuracy: 0.66667" in capsys.readouterr().out
    (tmp_path / "right" / "bee" / "b.jpg").write_bytes(b"no picture")
    assert evaluate(["photo-classifier", str(tmp_path / "right"), "--device", "cpu"]) == 1
    assert "b.jpg" in capsys.readouterr().err
    (tmp_path / "wrong" / "nonsense").mkdir(parents=True)
    (tmp_path / "wrong" / "nonsense" / "a.jpg").write_bytes(b"")
    assert evaluate(["photo-classifier", str(tmp_path / "wrong"), "--device", "cpu"]) == 1
    assert "folders that are named as classes" in capsys.readouterr().err
