"""What the tests of a public server visit: who answers and whom it sees, a file of weights that is not there."""

import os

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from attention_core.bounds.limits import is_hosted
from attention_core.weights import read_weights
from ui.hosting.middleware import Health


async def seen(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"{os.getpid()} {request.client.host} {is_hosted()}")


if __name__ == "__main__":
    st.text(f"process {os.getpid()}")
    if st.button("Read", key="read"):
        read_weights("nothing")
else:
    app = st.App(__file__, routes=[Route("/seen", seen)], middleware=[Middleware(Health)])
