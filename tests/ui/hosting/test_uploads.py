"""Uploads and tables of strangers at a public server: what is beyond the bounds is refused, told, and costs little."""

import asyncio
import json
import re
from contextlib import asynccontextmanager

import pytest

from attention_core.bounds.limits import HOSTED, MIB
from tests.support.server import Server, command, free_port, started
from tests.support.uploading import HEAD, Stranger
from tests.support.waiting import wait_until_async


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    """The tiny app as the public has it; its log is read at the end."""
    log, port = tmp_path_factory.mktemp("uploads") / "server.log", free_port()
    address = f"http://127.0.0.1:{port}"
    with (
        log.open("w") as output,
        started(command("tests/support/upload_app.py", port), address, output=output, ATTENTION_HOSTED="1") as process,
        pytest.MonkeyPatch.context() as environment,
    ):
        environment.setenv(HOSTED, "1")
        yield Server(address, (address,), (process.pid,))
    assert not re.search("ClientDisconnect|HTTPException|Upload rejected", log.read_text())


@asynccontextmanager
async def strangers(public, n=1):
    """Let so many strangers in and out again."""
    entered = [Stranger(public.address) for _ in range(n)]
    try:
        for stranger in entered:
            await stranger.open()
        yield entered
    finally:
        for stranger in entered:
            await stranger.close()


async def test_eight_files_of_190_mb_are_not_read(public):
    async with strangers(public) as (stranger,):
        await stranger.put(1)
        before = public.megabytes("VmHWM")[0]
        for _ in range(8):
            assert "it may have 104 MB at most" in await stranger.refused(181)
        assert public.megabytes("VmHWM")[0] - before < 50
        await stranger.put(1)


async def test_a_file_that_the_browser_lists_and_the_server_lacks_is_told(public):
    async with strangers(public) as (stranger,):
        value = await stranger.put(1)
        await stranger.delete(value)
        await stranger.use_file(value)
        assert "Give it again" in stranger.texts("alert")[0]
        await stranger.use_file(await stranger.put(1))
        assert stranger.texts("alert") == []


async def test_the_largest_upload_is_taken_and_the_uploader_names_it(public):
    async with strangers(public) as (stranger,):
        widget = stranger.widgets("file_uploader")[0]
        assert widget.message.max_upload_size_mb == 104
        await stranger.use_file(await stranger.put(104))
        assert f"{104 * MIB} bytes" in stranger.texts("markdown", "text")


async def test_an_upload_says_how_long_it_is(public):
    async with strangers(public) as (stranger,):
        with stranger.begin("a", Transfer_Encoding="chunked") as line:
            assert line.recv(1000).startswith(b"HTTP/1.1 411")
        with stranger.begin("a", Transfer_Encoding="chunked", Content_Length="9") as line:
            assert line.recv(1000).startswith((b"HTTP/1.1 411", b"HTTP/1.1 400"))


async def test_what_a_session_holds_is_bounded_and_given_back(public):
    async with strangers(public) as (stranger,):
        first = await stranger.put(80)
        await stranger.use_file(first)
        words = await stranger.refused(60)
        assert "may have 128 MB, 80 are in use" in words
        await wait_until_async(lambda: words in stranger.toasts)
        await stranger.delete(first)
        second = await stranger.put(60)  # replaces it, while the page still has it open
        await stranger.use_file(second)
        third_stranger = await stranger.put(60)  # nothing is deleted, as by a page that was left
        for _ in range(2):
            await stranger.use_file(third_stranger)
        await stranger.put(60)


async def test_what_all_hold_is_bounded_and_nothing_hides(public):
    for _ in range(2):  # the second time those before have ended
        async with strangers(public, 3) as (stranger, second_stranger, third_stranger):
            first = await stranger.put(100)
            await stranger.use_file(first)
            await stranger.delete(first)
            await second_stranger.put(100)
            assert "the server is full" in await third_stranger.refused(60)
            for _ in range(2):
                await stranger.use_file(type(first)())  # the page lets go of it, and its session a run later
            await third_stranger.put(60)


async def test_an_upload_that_stops_gives_its_share_back(public):
    async with strangers(public) as (stranger,):
        body = HEAD + bytes(100 * MIB)
        for ends in ("closed", "silent"):
            with stranger.begin(ends, Content_Length=str(104 * MIB)) as line:
                await asyncio.to_thread(line.sendall, body)
                assert "may have 128 MB" in await stranger.refused(60)
                if ends == "silent":
                    assert (await asyncio.to_thread(line.recv, 1000)).startswith(b"HTTP/1.1 408")
            await stranger.delete(await stranger.put_once_it_fits(100))


async def test_uploads_that_begin_together_stay_within_the_bound(public):
    async with strangers(public) as (stranger,):

        def send(name) -> bytes:
            with stranger.begin(str(name), Content_Length=str(60 * MIB)) as line:
                line.sendall(HEAD + bytes(59 * MIB))
                return line.recv(1000)[:12]

        answers = await asyncio.gather(*(asyncio.to_thread(send, name) for name in range(4)))
        assert sorted(answers) == [b"HTTP/1.1 408"] * 2 + [b"HTTP/1.1 413"] * 2


@pytest.mark.parametrize("key", ["fixed", "growing"])
async def test_rows_beyond_a_table_are_not_added(public, key):
    state = json.dumps({"added_rows": [{}] * 100_000, "deleted_rows": [0, 1]})

    async with strangers(public, 2) as (stranger, second_stranger):
        table = stranger.widgets("dataframe", key)[0]
        before = public.seconds()
        await stranger.set_value(table, "string_value", state)
        assert public.seconds() - before < 2
        assert "2 and 2 rows" in stranger.texts("markdown", "text")
        assert "100,000 new rows" in stranger.toasts
        await stranger.set_value(table, "string_value", json.dumps({"added_rows": [{}, {}]}))
        assert "2 and 2 rows" in stranger.texts("markdown", "text")
        await stranger.set_value(table, "string_value", json.dumps({"added_rows": ["x" * 5_000_000]}))
        assert "larger than 4 MB" in stranger.toasts
        before = public.seconds()
        for _ in range(3):  # it goes without waiting
            await second_stranger.send_value(table, "string_value", state)
        await second_stranger.close()
        await asyncio.sleep(1)
        assert public.seconds() - before < 4
