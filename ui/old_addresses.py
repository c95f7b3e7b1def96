"""Old addresses: links that people keep open what they opened before, wherever it stands today."""

import tomllib
from collections.abc import Mapping
from urllib.parse import parse_qsl

from attention_core.files import find_file

ANY = "*"  # in place of a value: whatever it is; in the address of today, that value
OPENS: dict[str, dict[str, str]] = tomllib.loads(find_file("ui/old_addresses.toml").read_text(encoding="utf-8"))
"""By page, then by a name and value of an old address: the names and values in their place today."""
MOVED: dict[str, str] = OPENS.pop("moved")
"""By an old page: the page, and what is open there, in its place today."""


def moved_address(page: str, address: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return the page that has what an old page had, and its address; of a page that is still there, what came in."""
    if page not in MOVED:
        return page, dict(address)
    today, _, query = MOVED[page].partition("?")
    return today, current_address(page, address) | dict(parse_qsl(query))


def current_address(page: str, address: Mapping[str, str]) -> dict[str, str]:
    """Return an address of a page as it is today; of two old values, the later row decides what is open."""
    opens, current = OPENS["every"] | OPENS.get(page, {}), dict(address)
    for old, today in opens.items():
        name, _, value = old.partition("=")
        if name in address and value in (address[name], ANY):
            current.pop(name, None)
            current |= {key: address[name] if new == ANY else new for key, new in parse_qsl(today)}
    return current
