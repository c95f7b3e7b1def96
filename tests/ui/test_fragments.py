"""A callback says which fragments of a page it changes: these run, once; where none is drawn, the whole page does."""

import pytest
from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    from ui.fragments import BODY, with_rerun
    from ui.skeleton import draw_fragment
    from ui.state import APP, Field

    runs, number = Field(APP, "runs", list), Field(APP, "number", 0)

    def lower() -> None:
        runs.value.append("lower")
        st.button("Add", key="add", on_click=with_rerun(lambda: number.set(number.value + 1)))
        st.text(f"below {number.value}")

    def body() -> None:
        runs.value.append("body")
        st.text(f"above {number.value}")
        draw_fragment(lower)

    runs.value.append("page")
    draw_fragment(body, name=BODY if st.session_state.has_body else "")


@pytest.mark.parametrize(("has_body", "second"), [(True, ["body", "lower"]), (False, ["page", "body", "lower"])])
def test_what_a_callback_changes_runs_once(has_body, second):
    app = AppTest.from_function(page, default_timeout=60)
    app.session_state.has_body = has_body
    app.run()
    for n in (1, 2):
        app.session_state.runs.clear()
        app.button(key="add").click().run()
        assert not app.exception
        assert app.session_state.runs == second
        assert [text.value for text in app.text] == [f"above {n}", f"below {n}"]
