"""Old names of arguments, attributes and modules work and warn, at the line that uses them."""

import sys
from dataclasses import dataclass
from types import ModuleType

import pytest

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


def test_an_old_argument_is_handed_on_with_a_warning_where_it_is_used():
    assert choose("cpu") == choose(device="cpu") == "cpu"
    assert choose.__doc__ == "Choose."
    with pytest.warns(DeprecationWarning, match="wanted is called device now") as warnings:
        assert choose(wanted="cpu") == "cpu"
    assert warnings[0].filename == __file__
    with pytest.raises(TypeError, match="both device and its old name wanted"):
        choose(wanted="cpu", device="cuda")


def test_an_old_attribute_and_argument_of_a_class_mean_the_new_one():
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
