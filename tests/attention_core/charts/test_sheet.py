"""Heads side by side, for papers."""

import re

import pytest
import torch

from attention_core import Recording

WORDS = ["the", "cat", "sat"]


def test_heads_stand_side_by_side_in_one_scale_with_words_or_numbers(tmp_path):
    weights = torch.eye(3).expand(2, 3, 3)
    recording = Recording.from_weights([weights, weights * 0.5], WORDS)
    chart = recording.figure(["0.1", "L1H0"])
    spec = chart.to_dict()  # which holds it against the schema
    assert [sheet["title"]["text"] for sheet in spec["hconcat"]] == ["0.1", "L1H0"]
    assert [max(cell["value"] or 0 for cell in spec["datasets"][f"cells{n}"]) for n in (0, 1)] == [1, 0.5]
    chart.save(tmp_path / "fig.svg", width=85)
    picture = (tmp_path / "fig.svg").read_text()
    assert 'width="85.00mm"' in picture
    assert len(re.findall(">cat<", picture)) == 4
    recording.figure(["0.1"], words=False).save(tmp_path / "fig.svg")
    assert ">cat<" not in (tmp_path / "fig.svg").read_text()


def test_a_head_that_does_not_exist_and_none_are_told():
    recording = Recording.from_weights([torch.eye(3)[None]])
    with pytest.raises(KeyError, match=r"no head '4\.0', there are L0H0 to L0H0"):
        recording.figure(["4.0"])
    with pytest.raises(ValueError, match="must have a head"):
        recording.figure([])
