"""Requests of phones to the hall of a lecture."""

import asyncio
import json

from starlette.applications import Starlette

from ui.lecture.hall import routes as hall_routes


def post(rooms, monkeypatch, place, content, **headers):
    """Return status and JSON of the answer to what a phone's page sends."""
    headers = {"content-type": "application/json", **headers}
    return request(rooms, monkeypatch, "POST", place, json.dumps(content).encode(), **headers)


def request(rooms, monkeypatch, method, place, body=b"", **headers):
    """Return status and JSON of what the server answers; nothing of it may stay in a browser's cache."""
    monkeypatch.setattr(hall_routes, "ROOMS", rooms)
    hall_routes._states.clear()
    path, _, query = place.partition("?")
    heads = {"content-length": str(len(body)), **headers}
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "client": ("10.0.0.1", 5000),
        "headers": [(name.lower().encode(), value.encode()) for name, value in heads.items()],
    }
    sent = []

    async def receive():
        return {"type": "http.request", "body": body}

    async def send(message):
        sent.append(message)

    asyncio.run(Starlette(routes=hall_routes.routes())(scope, receive, send))
    assert sent[0]["status"] == 405 or (b"cache-control", b"no-store") in sent[0]["headers"]
    content = b"".join(message.get("body", b"") for message in sent)
    is_json = content.startswith((b"{", b"["))
    return sent[0]["status"], json.loads(content) if is_json else content
