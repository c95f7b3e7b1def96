"""Components of our own: ui/assets/NAME.js and NAME.css become something that a page draws."""

from __future__ import annotations

import re
from functools import lru_cache

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from attention_core.files import find_file


@lru_cache
def component(name: str, script: str | None = None) -> ComponentRenderer:
    """Register a component: a root, the rules of prelude.css and its own, and its script.

    Args:
        name: of ui/assets/NAME.css, and of NAME.js unless a script is given.
        script: to send instead.
    """
    rules = _read("prelude.css") + _read(f"{name}.css")
    return st.components.v2.component(name, html='<div class="root"></div>', css=rules, js=script or script_of(name))


def script_of(*names: str) -> str:
    """Return scripts as one, behind those parts of prelude.js that they use: it is sent with every message."""
    script = "\n".join(_read(f"{name}.js") for name in names)
    for part in reversed(_read("prelude.js").strip().split("\n\n")):  # a part uses only parts above it
        if re.search(rf"(?<![^.]\.)\b{part.split()[1]}\b", script):
            script = f"{part}\n{script}"
    return script


def _read(name: str) -> str:
    """Return a file of ui/assets without what browsers do not need: indentation, and comments on lines of their own."""
    text = find_file(f"ui/assets/{name}").read_text(encoding="utf-8")
    return re.sub(r"^ *(//.*\n)?", "", text, flags=re.MULTILINE)
