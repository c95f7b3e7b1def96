"""What tests of pages do again and again."""

import base64
import io

import numpy as np
from PIL import Image
from streamlit.testing.v1 import AppTest


class App(AppTest):
    """The app without a browser; a run of it that ends with an exception fails the test, unless told otherwise."""

    is_strict = True

    def _run(self, *given, **named) -> AppTest:
        super()._run(*given, **named)
        assert not (self.is_strict and self.exception), self.exception
        return self


def opened(app: AppTest, path: str, tab: str = "") -> AppTest:
    """Go to a page, at one of its tabs."""
    app.switch_page(path).run()
    return open_tab(app, tab) if tab else app


def open_tab(page: AppTest, slug: str) -> AppTest:
    """Open a tab of the page that is shown."""
    return settled(page, **{f"{page.session_state['page_shown']}_tab": slug})


def settled(page: AppTest, **state: object) -> AppTest:
    """Put values into the session and run the page again, and nothing goes wrong."""
    for key, value in state.items():
        page.session_state[key] = value
    page.run()
    assert not page.exception
    return page


def said(page: AppTest) -> str:
    """Return the words on the page."""
    parts = [*page.info, *page.warning, *page.error, *page.markdown, *page.caption]
    return "\n".join(part.value for part in parts)


def inject(page: AppTest, canvas: np.ndarray, n_strokes: int = 1) -> AppTest:
    """Put a drawing onto the page's pad as the canvas component sends one, and run the page."""
    name, buffer = page.session_state["page_shown"], io.BytesIO()
    Image.fromarray(canvas).save(buffer, "PNG")
    path = [["M", 40, 40], ["L", 60, 200]]
    objects = [{"type": "Path", "path": path, "strokeWidth": 20} for _ in range(n_strokes)]
    state = {
        "raw": {"version": "7.4.0", "objects": objects},
        "data": "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode(),
    }
    generation = page.session_state[f"{name}_generation"]
    page.session_state[f"{name}_pad_{generation}"] = {"drawing": state}
    return page.run()


def steps_to_the_end(page: AppTest) -> list[str]:
    """Press the stepper's Next to its end; returns the names of the steps, the present one first."""
    name, seen = page.session_state["page_shown"], []
    while len(seen) < 20:
        seen.append(page.session_state[f"{name}_step"])
        following = page.button(key=f"{name}_step_next")
        if following.disabled:
            return seen
        following.click().run()
    raise AssertionError(f"the steps do not end: {seen}")
