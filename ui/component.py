"""Components of our own: NAME.js and NAME.css of ui/assets or of the core's view become something that a page draws.

Their scripts are files: Streamlit would send them again with every message.
"""

from functools import lru_cache, partial
from typing import Any

import streamlit as st
from starlette.routing import Route
from streamlit.components.v2.types import ComponentRenderer

from attention_core.attention.view import assets
from attention_core.files import find_file
from ui import served

ASSETS = find_file("ui/assets")
FOLDER = "scripts"
LOAD = """const { default: show } = await import(new URL("%s", document.baseURI));
export default show;"""  # of a single line Streamlit believes that it names a file
SCRIPTS: dict[str, str] = {}
script_of = partial(assets.script_of, folder=ASSETS)


@lru_cache
def component(name: str, script: str | None = None, *, after: tuple[str, ...] = ()) -> ComponentRenderer:
    """Register a component: a root, the rules of prelude.css and NAME.css, and its script, NAME.js if none is given.

    Files named `after`, which it shares with others, go before its own.
    """
    rules, script = assets.rules_of(*after, name, folder=ASSETS), script or script_of(*after, name)
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
