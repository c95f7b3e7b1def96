"""What the commands cannot do without, and how they say so."""

from importlib.util import find_spec

NEEDS = {
    "app": ("streamlit", "streamlit_drawable_canvas", "starlette"),
    "charts": ("altair", "pandas", "PIL", "vl_convert"),
    "hub": ("transformers", "huggingface_hub", "httpx2"),
}
"""Packages of each extra that its commands cannot do without."""


class CommandError(Exception):
    """What a person can mend; the message says how."""


def need(*extras: str) -> None:
    """Make sure that what these extras bring is installed; a CommandError names an extra that is not."""
    for extra in extras:
        missing = [name for name in NEEDS[extra] if find_spec(name) is None]
        if missing:
            raise CommandError(f'{missing[0]} is not installed: pip install "attention-explorer[{extra}]" brings it.')
