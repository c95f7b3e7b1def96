"""Requests of phones to the hall of a lecture."""

import asyncio
import json

from starlette.applications import Starlette

from ui.lecture.hall import routes as hall_routes


def request(rooms, monkeypatch, method, place, body=b"", **headers):
    """Return status and JSON of what the server answers."""
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
        "headers": [(name.lower().encode(), value.encode()) for name, value in heads.items()],
    }
    sent = []

    async def receive():
        return {"type": "http.request", "body": body}

    async def send(message):
        sent.append(message)

    asyncio.run(Starlette(routes=hall_routes.routes())(scope, receive, send))
    content = b"".join(message.get("body", b"") for message in sent)
    is_json = content and not content.startswith(b"<!doctype")
    return sent[0]["status"], json.loads(content) if is_json else content
