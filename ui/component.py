"""Components of our own: a script with a style sheet beside it, and those that it imports, become what a page draws.

Scripts are files, and shared ones the same file for all: Streamlit would send them again with every message.
"""

from functools import lru_cache
from typing import Any

import streamlit as st
from starlette.routing import Route
from streamlit.components.v2.types import ComponentRenderer

from attention_core.attention.view import assets
from attention_core.files import note_missing
from ui import served

SHARED_FOLDER = "ui/components"
FOLDER = "scripts"
LOAD = """const asked = %s.map((file) => import(new URL(`%s/${file}`, document.baseURI)));
export default (await asked.at(-1)).default;"""  # of a single line Streamlit believes that it names a file
SCRIPTS: dict[str, str] = {}


@lru_cache
def component(name: str, *, folder: str = SHARED_FOLDER) -> ComponentRenderer:
    """Register a component: a root, and NAME.js, which draws into it, of a folder of the repository."""
    with note_missing(f"{name}.js"):
        modules = assets.modules_of(f"{folder}/{name}.js")
    rules, files = assets.rules_of(modules), dict[str, str]()
    for module in modules:
        script = module.file(lambda path: f"./{files[path]}")
        files[module.path] = f"{module.name}-{served.content_name(script.encode())}.js"
        SCRIPTS[files[module.path]] = script

    @lru_cache
    def registered(is_served: bool) -> ComponentRenderer:
        inline = f"{assets.bundle(modules)}\nexport default modules.at(-1).default;"
        start = LOAD % ([*files.values()], FOLDER) if is_served else inline
        return st.components.v2.component(name, html='<div class="root"></div>', css=rules, js=start)

    def draw(**arguments: Any) -> Any:
        return registered(served.IS_SERVED.is_set())(**arguments)

    return draw


def route() -> Route:
    """Return the way to the scripts; see ui.served."""
    return served.file_route(FOLDER, SCRIPTS.get)
