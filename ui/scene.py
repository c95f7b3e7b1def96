"""The scene: one query at a time over its keys, as a component that tells what a visitor chooses in it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from streamlit.components.v2.types import ComponentRenderer

from ui.component import component
from ui.state import component_message

SCENE, TABLE, PICTURE = component("scene"), component("table_scene"), component("picture_scene")


class SceneChoice(NamedTuple):
    """What a visitor chose in a scene."""

    row: int  # which of its queries
    key: int | None = None  # whose weight is changed
    weight: float | None = None  # its new weight, None = it is crossed out, or given back
    focus: str = ""  # "vector" or "attention" where that was chosen
    is_even: bool = False  # whether all keys are to get the same weight
    is_reset: bool = False  # whether all weights are to be as learned


def scene_choice(name: str, n_queries: int, n_keys: int, element: str = "scene") -> SceneChoice | None:
    """Return what was chosen last in a scene of so many queries and keys; None if that is not in it.

    The component's key is NAME_ELEMENT.
    """
    message = component_message(f"{name}_{element}", "chosen") or {}
    row, key, weight, focus = (message.get(part) for part in ("row", "cut", "weight", "focus"))
    if not (isinstance(row, int) and 0 <= row < n_queries) or (key is not None and key not in range(n_keys)):
        return None
    if weight is not None and not (isinstance(weight, int | float) and 0 <= weight <= 1):
        return None
    focus = focus if focus in ("vector", "attention") else ""
    return SceneChoice(row, key, weight, focus, bool(message.get("even")), message.get("reset") is True)


def draw_scene(
    name: str, data: dict[str, Any], on_choose: Callable[[], None] | None = None, scene: ComponentRenderer = SCENE
) -> None:
    """Draw a scene, see attention_core.attention.view.scene; on_choose is called after a choice, see scene_choice.

    Without it all that is chosen stays in the browser, and no weight can be changed. TABLE is a scene of records, see
    scene_table.js; pages have others.
    """
    if on_choose is None:
        scene(key=f"{name}_scene", data=data | {"isAlone": True})
        return
    state = {"answered": _last_message(name).get("sent", 0), "canChange": True}
    scene(key=f"{name}_scene", data=state | data, default={"chosen": None}, on_chosen_change=on_choose)


def draw_picture_scene(
    name: str,
    data: dict[str, Any],
    on_look: Callable[[int], None] = lambda look: None,
    on_even: Callable[[bool], None] = lambda is_even: None,
    on_cut: Callable[[int], None] | None = None,
    on_query: Callable[[int], None] | None = None,
    scene: ComponentRenderer = PICTURE,
) -> None:
    """Draw a scene over a picture; the callbacks get a chosen look, whether all weights are to be equal, and a region.

    From the region of on_cut nothing is to be taken any more, None = no region can be crossed out; that of on_query is
    to be the query, in a scene where regions ask.
    data["pad"] is the name of the drawing pad that lies over the picture, in the container "NAME_first".
    """

    def on_choose() -> None:
        message = _last_message(name)
        look, is_even = message.get("row"), message.get("even")
        if isinstance(look, int) and 0 <= look < len(data["looks"]):
            on_look(look)
        if isinstance(is_even, bool):
            on_even(is_even)
        for act, region in ((on_cut, message.get("cut")), (on_query, message.get("query"))):
            if act and isinstance(region, int) and 0 <= region < len(data["looks"][0]["weights"]):
                act(region)

    state = {"answered": _last_message(name).get("sent", 0), "canCross": on_cut is not None}
    scene(key=f"{name}_scene", data=state | data, default={"chosen": None}, on_chosen_change=on_choose)


def _last_message(name: str) -> dict[str, Any]:
    """Return what a scene told last, which is answered by what is drawn; {} before."""
    return component_message(f"{name}_scene", "chosen") or {}
