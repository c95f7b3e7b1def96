"""Where phones reach this server: as its owner says, as the lecturer's browser does, or by its network."""

import ipaddress
import os
import socket
from urllib.parse import urlsplit

import streamlit as st

from ui.hall.routes import FOLDER

URL = "ATTENTION_URL"
"""The variable that names the app's address as phones reach it, such as https://attention.example."""
NOWHERE = (
    "Phones cannot reach this server. Connect it to the hall's network, start it with `--server.address 0.0.0.0`, and "
    "open this page by the machine's address in that network, not by localhost; or set "
    f"{URL} to the address that phones are to open. Hands can be counted all the same."
)


def phones_address(code: str) -> str | None:
    """Return the address of a room for phones; None where none is known."""
    base = st.get_option("server.baseUrlPath").strip("/")
    root = os.environ.get(URL) or _opened() or _of_network(base)
    return f"{root.rstrip('/')}/{FOLDER}/{code}" if root else None


def opened_at() -> str:
    """Return the address by which the app was opened, without the page's name."""
    opened = urlsplit(st.context.url or "")
    return opened._replace(path=opened.path.rpartition("/")[0], query="", fragment="").geturl()


def _opened() -> str | None:
    """Return the address by which the lecturer has opened the app, if others can open it."""
    host = urlsplit(opened_at()).hostname
    return opened_at() if host and not _is_own(host) else None


def _is_own(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _of_network(base: str) -> str | None:
    listens_at = st.get_option("server.address")
    if listens_at and _is_own(listens_at):
        return None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:  # which sends nothing
        try:
            asking.connect(("192.0.2.1", 9))
        except OSError:
            return None
        own = asking.getsockname()[0]
    if _is_own(own) or own == "0.0.0.0":
        return None
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    return f"{scheme}://{own}:{st.get_option('server.port')}/{base}"
