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
    """Register a component: a root, the rules of prelude.css and NAME.css, and its script, NAME.js if none is given.

    Files named `after`, which it shares with others, go before its own.
    """
    rules, script = assets.rules_of(*after, name, folder=ASSETS), script or script_of(*after, name)
    return st.components.v2.component(name, html='<div class="root"></div>', css=rules, js=script)
