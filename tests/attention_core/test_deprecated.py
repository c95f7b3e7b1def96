"""Old names of arguments, attributes and modules work and warn, at the line that uses them."""

import sys
from dataclasses import dataclass
from types import ModuleType

import pytest
import torch

import attention_core
from attention_core.deprecated import renamed_arguments, renamed_attribute, renamed_names


@renamed_arguments(wanted="device")
def choose(device: str = "auto") -> str:
    """Choose."""
    return device


@renamed_arguments(whole="full_labels")
@dataclass(frozen=True)
class Axis:
    full_labels: int

    whole = renamed_attribute("full_labels")


def test_old_arguments_and_attributes_warn_and_mean_the_new_ones():
    assert choose("cpu") == choose(device="cpu") == "cpu"
    assert choose.__doc__ == "Choose."
    with pytest.warns(DeprecationWarning, match="wanted is called device now") as warnings:
        assert choose(wanted="cpu") == "cpu"
    assert warnings[0].filename == __file__
    with pytest.raises(TypeError, match="both device and its old name wanted"):
        choose(wanted="cpu", device="cuda")
    with pytest.warns(DeprecationWarning, match="whole is called full_labels now"):
        axis = Axis(whole=3)
    assert axis == Axis(3)
    with pytest.warns(DeprecationWarning, match="Axis.whole is called full_labels now") as warnings:
        assert axis.whole == 3
    assert warnings[0].filename == __file__


def test_an_old_name_of_a_module_is_the_new_one(monkeypatch):
    module = ModuleType("some_module")
    module.HeadRef, module.__getattr__ = Axis, renamed_names("some_module", RunHead="HeadRef")
    monkeypatch.setitem(sys.modules, "some_module", module)
    with pytest.warns(DeprecationWarning, match="some_module.RunHead is called HeadRef now"):
        assert module.RunHead is Axis
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        module.other  # noqa: B018


def test_the_public_names_of_the_version_before_still_work(tmp_path):
    with pytest.warns(DeprecationWarning, match="RunHead is called HeadRef now"):
        assert attention_core.RunHead is attention_core.HeadRef
    with pytest.warns(DeprecationWarning, match="argument wanted is called device now"):
        assert attention_core.choose_device(wanted="cpu") == "cpu"
    with pytest.warns(DeprecationWarning, match="argument whole is called full_labels now"):
        axis = attention_core.Axis("words", ["a"], whole=["apple"])
    with pytest.warns(DeprecationWarning, match=r"Axis.whole is called full_labels now"):
        assert axis.whole == axis.full_labels == ["apple"]
    with attention_core.capture() as recording:
        torch.nn.functional.scaled_dot_product_attention(*torch.randn(3, 1, 2, 4, 3))
    recording.save(tmp_path / "run.npz")
    with pytest.warns(DeprecationWarning, match="argument most_bytes is called max_bytes now"):
        assert len(attention_core.load_recording(tmp_path / "run.npz", most_bytes=100_000)) == 1
    with pytest.warns(DeprecationWarning, match="argument most_bytes is called max_bytes now"):
        recording.to_html(tmp_path / "run.html", most_bytes=100_000)
    with pytest.warns(DeprecationWarning, match="seen_keys is called visible_keys now"):
        assert recording[0].seen_keys(0, 0) == [0, 1, 2, 3]
    with pytest.warns(DeprecationWarning, match="factor is called score_multiplier now"):
        assert recording[0].factor(0) == 1


def test_an_edit_of_the_version_before_still_works():
    with pytest.warns(DeprecationWarning, match="is called"):

        class Halved(attention_core.HeadEdit):
            words = "its scores are halved"
            head = None

            def factor(self) -> float:
                return 0.5

    assert (Halved().score_multiplier(), Halved().describe()) == (0.5, "its scores are halved")
