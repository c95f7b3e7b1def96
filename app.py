"""Attention Explorer: page config, navigation, sidebar. Run with `streamlit run app.py`."""

import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")  # two threads for one visitor starve the next (before torch is imported)

import streamlit as st
from starlette.middleware import Middleware

import ui.chart
import ui.component
from ui.faults import show_restart_notice
from ui.hosting.allowance import WebsocketAllowance
from ui.hosting.compressed import Compressed
from ui.hosting.middleware import FullServer, Health, OldAddresses, PageStyle, SecurityHeaders
from ui.hosting.uploads import UploadBounds
from ui.hosting.warm_up import SECONDS_TO_PAINT, import_libraries, is_warm, lifespan
from ui.lecture.guided.items import follow_lecture
from ui.lecture.hall.routes import routes
from ui.navigation import CAME_THROUGH_APP, ICON, PAGES, navigation, show_opened_file
from ui.skeleton import foot, guarded, page_head, sidebar
from ui.state import read_address, show_link_faults
from ui.take_along import go_to_session

if __name__ == "__main__":  # a visitor's run; else the server begins
    CAME_THROUGH_APP.value = True
    show_restart_notice()
    page = navigation()
    entry = next(entry for entry in PAGES if entry.title == page.title)
    st.set_page_config(page_title=entry.window_title, page_icon=ICON, layout="wide")
    if not is_warm() and entry.name != "start":  # Start shows what was made beforehand
        page_head(entry.heading, entry.question)
        st.skeleton(height=400)
        time.sleep(SECONDS_TO_PAINT)
        import_libraries()
        st.rerun()
    show_opened_file(page.url_path)
    go_to_session(entry)
    read_address(entry.name)
    follow_lecture()
    was_warm = is_warm()
    if was_warm:
        sidebar()
    guarded(page.run)()
    if not was_warm:  # Start is painted before what the sidebar needs is imported
        sidebar()
    foot(entry)
    show_link_faults()
else:
    pages = SecurityHeaders, FullServer, OldAddresses, PageStyle, Health
    middleware = [Middleware(layer) for layer in (*pages, Compressed, UploadBounds, WebsocketAllowance)]
    files = [ui.chart.route(), ui.component.route()]
    app = st.App(__file__, lifespan=lifespan, routes=[*files, *routes()], middleware=middleware)
