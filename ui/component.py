"""Components of our own: NAME.js and NAME.css of ui/assets or of the core's view become something that a page draws."""

from functools import lru_cache, partial

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from attention_core.attention.view import assets
from attention_core.files import find_file

ASSETS = find_file("ui/assets")
script_of = partial(assets.script_of, folder=ASSETS)


@lru_cache
def component(name: str, script: str | None = None, *, after: tuple[str, ...] = ()) -> ComponentRenderer:
    """Register a component: a root, the rules of prelude.css and its own, and its script.

    Args:
        name: of NAME.css, and of NAME.js unless a script is given.
        script: to send instead.
        after: names of files that it shares with others, which go before its own.
    """
    rules, script = assets.rules_of(*after, name, folder=ASSETS), script or script_of(*after, name)
    return st.components.v2.component(name, html='<div class="root"></div>', css=rules, js=script)
