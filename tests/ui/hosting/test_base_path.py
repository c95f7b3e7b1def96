"""The app below a path of its server, as universities run it: known to the app, or taken away by a proxy before it."""

import json
import re
from urllib.parse import urljoin

import pytest

from deploy.run import find_nginx
from tests.support.raw_requests import request
from tests.support.server import command, free_port, started
from tests.support.session import Session
from ui.navigation import PAGES

PROXY = """
daemon off; pid {folder}/pid; error_log stderr; events {{}}
http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
server {{ listen 127.0.0.1:{port}; location /lab/ {{ proxy_pass http://127.0.0.1:{behind}/; proxy_http_version 1.1;
proxy_set_header Host $http_host; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade; }} }} }}
"""


@pytest.fixture(params=["known", "taken away"])
def address(request: pytest.FixtureRequest, tmp_path):
    """Where the app is served."""
    port, behind, folder = free_port(), free_port(), {"STREAMLIT_SERVER_BASE_URL_PATH": "my/base"}
    if request.param == "known":
        with started(command("app.py", port), f"http://127.0.0.1:{port}/my/base", **folder):
            yield f"http://127.0.0.1:{port}/my/base"
        return
    if find_nginx() is None:
        pytest.skip("nginx is not installed")
    (tmp_path / "nginx.conf").write_text(PROXY.format(port=port, behind=behind, folder=tmp_path))
    proxy = [find_nginx(), "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf"), "-e", "stderr"]
    url = f"http://127.0.0.1:{port}/lab"
    with started(command("app.py", behind), f"http://127.0.0.1:{behind}"), started(proxy, url):
        yield url


def answer_of(address: str, path: str, **headers: str):
    """Return the server's answer; a redirect is not followed."""
    host, _, base = address.removeprefix("http://").partition("/")
    return request(host, "GET", f"/{base}/{path}", headers)


async def test_pages_pictures_scripts_and_the_hall_are_all_there(address):
    session = Session(address)
    faults, scripts = {"": (await session.open("")).faults}, set()
    for entry in PAGES[1:]:
        faults[entry.url_path] = (await session.switch_page(entry.url_path)).faults
        texts = [str(element.message) for element in session.elements.values()]
        scripts |= {name for text in texts for name in re.findall(r"[\w-]+-[0-9a-f]{32}\.js", text)}
    assert {path: found for path, found in faults.items() if found} == {}
    await session.close()
    assert len(scripts) > 10
    for path in [f"scripts/{name}" for name in scripts] + ["hall/BCDFGH", "atlas", "_stcore/health"]:
        assert answer_of(address, path).status == 200
    assert json.loads(answer_of(address, "hall/BCDFGH/now").text)["error"] == "This room is closed."
    moved = answer_of(address, "draw-a-digit?digit=3", Accept="text/html")
    assert moved.status == 307
    assert urljoin(f"{address}/draw-a-digit", moved.headers["location"]) == f"{address}/pixels?digit=3"
