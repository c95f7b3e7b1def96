"""Components of our own: NAME.js and NAME.css, of ui/components, a page or the core's view, become what a page draws.

Their scripts are files: Streamlit would send them again with every message.
"""

from functools import lru_cache
from typing import Any

import streamlit as st
from starlette.routing import Route
from streamlit.components.v2.types import ComponentRenderer

from attention_core.attention.view import assets
from attention_core.files import find_file
from ui import served

HERE = "ui/components"
FOLDER = "scripts"
LOAD = """const { default: show } = await import(new URL("%s", document.baseURI));
export default show;"""  # of a single line Streamlit believes that it names a file
SCRIPTS: dict[str, str] = {}


@lru_cache
def component(
    name: str, *, folder: str = HERE, scripts: tuple[str, ...] = (), after: tuple[str, ...] = ()
) -> ComponentRenderer:
    """Register a component: a root, the rules of prelude.css and NAME.css, and its script, NAME.js.

    Args:
        name: of its files, without ending.
        folder: where they lie in the repository; those that are not there are shared or the view's.
        scripts: the files of its script in their order, if NAME.js is not the only one.
        after: names of files, rules and scripts, that it shares with others and that go before its own.
    """
    folders = [find_file(place) for place in (folder, HERE)]
    rules = assets.rules_of(*after, name, folders=folders)
    script = assets.script_of(*after, *(scripts or (name,)), folders=folders)
    file = f"{name}-{served.content_name(script.encode())}.js"
    SCRIPTS[file] = script

    @lru_cache
    def registered(is_served: bool) -> ComponentRenderer:
        start = LOAD % f"{FOLDER}/{file}" if is_served else script
        return st.components.v2.component(name, html='<div class="root"></div>', css=rules, js=start)

    def draw(**given: Any) -> Any:
        return registered(served.IS_SERVED.is_set())(**given)

    return draw  # type: ignore[return-value]


def route() -> Route:
    """Return the way to the scripts; see ui.served."""
    return served.file_route(FOLDER, SCRIPTS.get)
