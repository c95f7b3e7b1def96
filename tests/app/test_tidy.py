"""A server stays tidy: what was made for a download waits for the browser, and goes in the end."""

from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from ui.tidy import keep_downloads


def made(seconds: float) -> tuple[MediaFileManager, str]:
    """A file that was asked for, after the ends of three runs of other visitors."""
    files = MediaFileManager(MemoryMediaFileStorage("/media"))
    keep_downloads(files, seconds)
    url = files.execute_deferred(files.add_deferred(lambda: b"numbers", "text/plain", "there", file_name="numbers.txt"))
    for _ in range(3):
        files.remove_orphaned_files()
    return files, url.rsplit("/", 1)[1].split(".")[0]


def test_download_outlasts_the_runs_of_others():
    files, name = made(seconds=60)
    assert files.read_file(name).content == b"numbers"


def test_download_goes_when_the_time_is_over():
    files, name = made(seconds=0)
    assert files.read_file(name) is None
