"""What the tests of uploads and of tables visit, with the bounds of the public; all files together may have less."""

import gc
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import streamlit as st
from starlette.middleware import Middleware

sys.path.insert(0, str(Path(__file__).parents[2]))
from ui.hosting import uploads

if __name__ == "__main__":
    uploaded = st.file_uploader("A file", key="file", max_upload_size=uploads.max_megabytes())
    uploads.show_lost_file("file", uploaded)
    st.caption(f"{len(uploaded.getvalue())} bytes" if uploaded else "no file")
    frame = pd.DataFrame({"1": ["0", "1"]})
    fixed = st.data_editor(frame, key="fixed")
    growing = st.data_editor(frame, key="growing", num_rows="dynamic")
    st.text(f"{len(fixed)} and {len(growing)} rows")
    uploads.show_refusal()
    gc.collect()  # as ui/hosting/warm_up.py does
else:
    uploads.UPLOADS_BYTES = replace(uploads.UPLOADS_BYTES, hosted=256 * uploads.MIB)
    uploads.UPLOAD_SECONDS = replace(uploads.UPLOAD_SECONDS, hosted=5)
    app = st.App(__file__, middleware=[Middleware(uploads.UploadBounds)])
