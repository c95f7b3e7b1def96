"""A page with the notes of a guided lecture in the place of the app."""

from http.server import BaseHTTPRequestHandler

from attention_core.files import find_file
from ui.hosting.middleware import headers

PAGE = b"""<!doctype html><link rel="icon" href="data:,"><script type="module">
import draw from "/notes.js";
window.pressed = [];
window.sent = [];
window.lecture = { act: (key) => pressed.push(key) };
window.tell = (data) => draw({ data, setTriggerValue: (...what) => sent.push(what) });
</script>"""


class Answer(BaseHTTPRequestHandler):
    """Gives the page and the component's script, with the headers that the app sends."""

    def do_GET(self) -> None:
        is_script = self.path == "/notes.js"
        self.send_response(200)
        for name, value in headers("").items():
            self.send_header(name, value)
        self.send_header("content-type", "text/javascript" if is_script else "text/html")
        self.end_headers()
        self.wfile.write(find_file("ui/lecture/guided/lecture_notes.js").read_bytes() if is_script else PAGE)

    def log_message(self, *_: object) -> None:
        """Be silent."""
