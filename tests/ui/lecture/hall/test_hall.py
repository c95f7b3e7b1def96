"""Rooms for a hall's phones: what they are asked, what is counted, what is refused, and who may see what."""

import asyncio
import sqlite3
import threading
import time
from collections import Counter
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from starlette.requests import Request

from attention_core.concurrency import BoundedCache
from tests.support.hall_requests import post, request
from ui.hosting.bounds import HALL_PHONES, HALL_PHONES_OF_ADDRESS, HALL_QUESTIONS, HALL_ROOMS, HALL_ROOMS_OF_ADDRESS
from ui.lecture.hall import rooms as hall_rooms
from ui.lecture.hall import routes
from ui.lecture.hall.rooms import HallQuestion, RoomError, Rooms, UnavailableError

COLOURS = HallQuestion("Draw a digit", "Which colour?", ("red", "blue", "green"))
NUMBERS = HallQuestion("Three vectors", "How many?", ("1", "2", "3", "4"))
PHONES = [f"phone-number-{number:04d}" for number in range(5)]


@pytest.fixture
def rooms(tmp_path):
    return Rooms(tmp_path / "below" / "rooms.sqlite")


@pytest.fixture
def room(rooms):
    code, _ = rooms.open()
    for phone in PHONES:
        rooms.join(code, phone)
    return code


def test_every_phone_counts_once_and_may_change_until_the_answer_is_shown(rooms, room):
    number = rooms.ask(room, COLOURS)
    for phone in PHONES:
        rooms.answer(room, number, phone, 0)
    rooms.answer(room, number, PHONES[0], 2)
    assert rooms.attendance(room) == {"present": 5, "answered": 5}
    tally = rooms.reveal(room, COLOURS, [2])
    assert (tally.counts, tally.n, tally.n_correct) == ((4, 0, 1), 5, 1)
    assert rooms.attendance(room)["counts"] == (4, 0, 1)
    with pytest.raises(RoomError, match="over"):
        rooms.answer(room, number, PHONES[1], 2)


def test_hands_that_were_shown_count_with_the_phones(rooms, room):
    rooms.answer(room, rooms.ask(room, COLOURS), PHONES[0], 1)
    rooms.raise_hands(room, COLOURS, [10, 0, 3])
    assert rooms.reveal(room, COLOURS, [0]).counts == (10, 1, 3)


def test_a_question_that_comes_back_keeps_its_answers_and_is_told_once(rooms, room):
    rooms.answer(room, rooms.ask(room, COLOURS), PHONES[0], 1)
    rooms.reveal(room, COLOURS, [1])
    rooms.answer(room, rooms.ask(room, NUMBERS), PHONES[0], 3)
    assert rooms.ask(room, COLOURS) == 1
    assert rooms.results(room) == [
        {"page": "Draw a digit", "question": "Which colour?", "answers": 1, "right": 1},
        {"page": "Three vectors", "question": "How many?", "answers": 1, "right": None},
    ]


def lock(path):
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin exclusive")
    return other.close


def damage(path):
    for beside in path.parent.glob("*-*"):
        beside.unlink()
    path.write_bytes(b"no database" * 500)
    return path.unlink


def put_folder(path):
    for file in path.parent.glob("*"):
        file.unlink()
    path.mkdir()
    return path.rmdir


@pytest.mark.parametrize("spoil", [lock, damage, put_folder])
def test_a_file_that_cannot_be_used_is_told_at_once_and_used_again_later(rooms, monkeypatch, spoil):
    code, key = rooms.open()
    if spoil is not lock:
        rooms.__dict__.pop("_connection").close()  # as in a process that starts
    mend = spoil(rooms.path)
    unavailable = 503, {"error": hall_rooms.UNAVAILABLE}
    joining = f"/hall/{code}/join", {"phone": PHONES[0]}
    assert post(rooms, monkeypatch, *joining) == unavailable
    mend()
    assert post(rooms, monkeypatch, *joining) == unavailable, "nobody asks the file again so soon"
    monkeypatch.setattr(rooms, "_rests_until", 0)
    assert rooms.confirm_lecturer(code, key) == (spoil is lock)
    rooms.open()


async def test_phones_that_wait_for_the_file_keep_nobody_else_waiting(monkeypatch):
    unlocked = threading.Event()

    def wait_for_file(code):
        if not unlocked.wait(10):
            unlocked.set()
            raise AssertionError("the event loop waited, or the threads that serve files")
        raise UnavailableError(hall_rooms.UNAVAILABLE)

    monkeypatch.setattr(routes, "ROOMS", SimpleNamespace(state=wait_for_file))
    code = hall_rooms.CODE_LETTERS[0] * hall_rooms.CODE_LENGTH
    scope = {"type": "http", "headers": [], "query_string": b"", "path_params": {"code": code}}
    phones = [asyncio.create_task(routes._current_question(Request(scope))) for _ in range(50)]
    await asyncio.sleep(0)
    await asyncio.to_thread(unlocked.set)
    assert {answer.status_code for answer in await asyncio.gather(*phones)} == {503}


def test_what_does_not_belong_is_refused(rooms, room):
    number = rooms.ask(room, COLOURS)
    for answer, phone, words in ((3, PHONES[0], "no such answer"), (-1, PHONES[0], "no such"), (0, "x" * 20, "joined")):
        with pytest.raises(RoomError, match=words):
            rooms.answer(room, number, phone, answer)
    rooms.pause(room)
    with pytest.raises(RoomError, match="over"):
        rooms.answer(room, number, PHONES[0], 0)
    assert rooms.reveal(room, NUMBERS, [0]) is None, "it was never asked"


def test_only_the_lecturers_key_opens_what_is_the_lecturers(rooms):
    code, key = rooms.open()
    other, other_key = rooms.open()
    assert rooms.confirm_lecturer(code, key)
    assert not rooms.confirm_lecturer(code, other_key)
    rooms.close(code)
    assert not rooms.confirm_lecturer(code, key)
    assert rooms.confirm_lecturer(other, other_key)
    assert key not in rooms.path.read_bytes().decode("latin-1"), "the file holds no key"


def test_a_room_closes_after_three_hours_and_without_its_lecturer(rooms, monkeypatch):
    code, key = rooms.open()
    began = time.monotonic()
    monkeypatch.setattr(hall_rooms.time, "monotonic", lambda: began + hall_rooms.MAX_IDLE_SECONDS - 5)
    assert rooms.confirm_lecturer(code, key), "a sign of life"
    monkeypatch.setattr(hall_rooms.time, "monotonic", lambda: began + 2 * hall_rooms.MAX_IDLE_SECONDS)
    with pytest.raises(RoomError, match="closed"):
        rooms.state(code)
    rooms.drop_old()
    assert rooms.results(code) == []


def test_rooms_phones_and_questions_are_bounded(rooms, room, monkeypatch):
    for bound, act in (
        (HALL_ROOMS, rooms.open),
        (HALL_ROOMS_OF_ADDRESS, lambda: rooms.open("10.0.0.1")),
        (HALL_PHONES, lambda: rooms.join(room, "one-phone-too-many")),
        (HALL_PHONES_OF_ADDRESS, lambda: rooms.join(room, "and-another-phone", "10.0.0.1")),
        (HALL_QUESTIONS, lambda: rooms.ask(room, NUMBERS)),
    ):
        monkeypatch.setattr(hall_rooms, next(name for name, one in vars(hall_rooms).items() if one is bound), _Few())
        with pytest.raises(RoomError):
            act()
        monkeypatch.undo()
        act()
    monkeypatch.setattr(hall_rooms, "HALL_PHONES", _Few())
    rooms.join(room, PHONES[0])  # who is in stays in


def test_a_session_has_one_room(rooms, monkeypatch):
    from ui.lecture.hall import corner

    for name, value in {"ROOM": Always(None), "REFUSAL": Always(""), "ROOMS": rooms}.items():
        monkeypatch.setattr(corner, name, value)
    corner._open()
    first = corner.ROOM.value
    corner._open()
    assert not rooms.confirm_lecturer(*first)
    assert rooms.confirm_lecturer(*corner.ROOM.value)


def test_who_guesses_codes_learns_nothing_more_while_a_hall_behind_the_same_address_goes_on(rooms, monkeypatch):
    code, key = rooms.open()
    rooms.join(code, PHONES[0])
    monkeypatch.setattr(routes, "_guesses", BoundedCache())
    monkeypatch.setattr(routes, "HALL_WRONG_CODES_PER_SECOND", _Few())
    monkeypatch.setattr(routes, "HALL_WRONG_CODES", SimpleNamespace(maximum=400))
    statuses = Counter(request(rooms, monkeypatch, "GET", f"/hall/{name}/now")[0] for name in ["KKKKKK"] * 402)
    assert statuses == {410: 400, 429: 2}
    now = f"/hall/{code}/now"
    assert request(rooms, monkeypatch, "GET", now)[0] == 429
    assert request(rooms, monkeypatch, "GET", now, **{"x-hall-phone": PHONES[1]})[0] == 429
    assert request(rooms, monkeypatch, "GET", now, **{"x-hall-phone": PHONES[0]})[0] == 200
    assert request(rooms, monkeypatch, "GET", f"/hall/{code}/attendance", **{"x-hall-key": key})[0] == 200


def test_a_connection_that_fails_is_closed_and_a_file_of_an_older_version_begins_anew(rooms, monkeypatch):
    connections = []

    def connect(*arguments, **options):
        connections.append(sqlite3.connect(*arguments, **options))
        return connections[-1]

    rooms.path.parent.mkdir()
    with sqlite3.connect(rooms.path) as older:
        older.execute("create table rooms(code text)")
    older.close()
    monkeypatch.setattr(hall_rooms, "sqlite3", SimpleNamespace(**{**vars(sqlite3), "connect": connect}))
    rooms.open()
    lock(rooms.path)
    with pytest.raises(UnavailableError):
        rooms.open()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connections[0].execute("select 1")


class _Few:
    maximum = 0


def test_two_processes_share_a_file(rooms, room):
    other = Rooms(rooms.path)
    number = rooms.ask(room, COLOURS)
    other.answer(room, number, PHONES[3], 1)
    assert rooms.reveal(room, COLOURS, [1]).counts == (0, 1, 0)


def test_a_phone_joins_asks_again_for_nothing_and_answers(rooms, monkeypatch):
    code, key = rooms.open()
    rooms.ask(code, COLOURS)
    status, page = request(rooms, monkeypatch, "GET", f"/hall/{code}")
    assert status == 200
    assert len(page) < 60_000
    assert request(rooms, monkeypatch, "GET", f"/hall/{code}/now?joins=x")[0] == 200
    assert request(rooms, monkeypatch, "GET", f"/hall/{code}/join?phone={PHONES[0]}")[0] == 405, (
        "by a link nobody joins"
    )
    assert post(rooms, monkeypatch, f"/hall/{code}/join", {"phone": PHONES[0]})[0] == 204
    status, state = request(rooms, monkeypatch, "GET", f"/hall/{code.lower()}/now")
    assert (status, state["options"]) == (200, ["red", "blue", "green"])
    assert "correct" not in state
    assert request(rooms, monkeypatch, "GET", f"/hall/{code}/now?has={state['state']}") == (204, b"")
    vote = {"question": state["number"], "answer": 1, "phone": PHONES[0]}
    for foreign in ({"sec-fetch-site": "cross-site"}, {"content-type": "text/plain"}):
        assert post(rooms, monkeypatch, f"/hall/{code}/answer", vote, **foreign)[0] == 403
    assert rooms.attendance(code)["answered"] == 0
    assert post(rooms, monkeypatch, f"/hall/{code}/answer", vote)[0] == 204
    assert request(rooms, monkeypatch, "GET", f"/hall/{code}/attendance", **{"x-hall-key": key}) == (
        200,
        {"present": 1, "answered": 1},
    )
    rooms.reveal(code, COLOURS, [1])
    _, state = request(rooms, monkeypatch, "GET", f"/hall/{code}/now?has={state['state']}")
    assert (state["correct"], state["n"], state["n_correct"]) == ([1], 1, 1)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/hall/AAAAA/now", b"", 410),
        ("GET", "/hall/KKKKKK/now", b"", 410),
        ("GET", "/hall/{code}/results", b"", 410),
        ("POST", "/hall/{code}/join", b'{"phone": "x"}', 400),
        ("POST", "/hall/{code}/answer", b"{}", 400),
        ("POST", "/hall/{code}/answer", b"[" * 200, 400),
        ("POST", "/hall/{code}/answer", b" " * 400, 400),
        ("POST", "/hall/{code}/answer", b'{"question": 1, "answer": 1e400, "phone": "phone-number-0000"}', 400),
    ],
)
def test_strangers_get_an_answer_that_says_so(rooms, monkeypatch, method, path, body, status):
    code, _ = rooms.open()
    path, kind = path.format(code=code), {"content-type": "application/json"}
    answered, words = request(rooms, monkeypatch, method, path, body, **kind)
    assert answered == status
    assert words["error"]


@pytest.mark.parametrize(
    ("opened", "named", "listens", "network", "leads"),
    [
        ("http://10.1.1.5:8501/translate", "", None, "", "http://10.1.1.5:8501/hall/K"),  # as the lecturer opened it
        ("http://localhost:8501/", "", None, "192.168.4.2", "http://192.168.4.2:8501/hall/K"),
        ("http://localhost:8501/find", "", None, "", None),
        ("http://[::1]:8501/find", "", "localhost", "192.168.4.2", None),  # this machine alone can open it
        ("http://localhost:8501/", "https://one.example/~/+/", "localhost", "", "https://one.example/~/+/hall/K"),
    ],
)
def test_the_address_for_phones_is_one_that_they_reach_or_none(monkeypatch, opened, named, listens, network, leads):
    class Network:
        AF_INET = SOCK_DGRAM = 0

        def socket(self, *_):
            return nullcontext(self)

        def connect(self, _):
            if not network:
                raise OSError

        def getsockname(self):
            return network, 0

    options = {"server.address": listens, "server.port": 8501, "server.baseUrlPath": "", "server.sslCertFile": None}
    monkeypatch.setenv(routes.URL, named)
    monkeypatch.setattr(routes, "socket", Network())
    monkeypatch.setattr(routes, "st", SimpleNamespace(context=SimpleNamespace(url=opened), get_option=options.get))
    assert routes.phones_address("K") == leads


class Always:
    def __init__(self, value):
        self.value = value


@pytest.fixture
def questions(rooms, monkeypatch):
    """The lecturer's side on the page *Draw a digit*, with a room open."""
    from ui.lecture.hall import questions

    monkeypatch.setattr(questions, "ROOM", Always(questions.Room(*rooms.open())))
    monkeypatch.setattr(questions, "ROOMS", rooms)
    monkeypatch.setattr(questions, "PAGE", Always("pixels"))
    return questions


def test_a_question_goes_to_the_phones_as_plain_text_and_its_verdict_counts_them(questions, rooms):
    code = questions.ROOM.value.code
    assert questions.hall_verdict(1) == "", "nothing was asked"
    questions.ask_hall("Is *this* right?", ["**yes**", "no"])
    state = rooms.state(code)
    assert (state["text"], state["options"]) == ("Is this right?", ["yes", "no"])
    rooms.join(code, PHONES[0])
    rooms.answer(code, state["number"], PHONES[0], 1)
    assert questions.hall_verdict(1) == "**The hall**: 1 of 1 were right, 100%."
    assert rooms.state(code)["correct"] == (1,)


def test_a_lecture_goes_on_where_rooms_cannot_be_used(questions, rooms, monkeypatch):
    from ui.lecture.hall import corner

    drawn = []
    for name, value in {"ROOM": questions.ROOM, "ROOMS": rooms, "_corner": lambda **given: drawn.append(given)}.items():
        monkeypatch.setattr(corner, name, value)
    questions.ask_hall("Is this right?", ["yes", "no"])
    unlock = lock(rooms.path)
    for act in (corner.hall_corner, corner.pause_idle_hall, corner.hall_corner):
        act()
    assert questions.hall_verdict(1) == ""
    assert [one["data"]["refusal"] for one in drawn] == [hall_rooms.UNAVAILABLE] * 2
    assert drawn[-1]["data"]["room"]["code"] == questions.ROOM.value.code, "it comes back"
    unlock()
    monkeypatch.setattr(rooms, "_rests_until", 0)
    corner.hall_corner()
    assert drawn[-1]["data"]["refusal"] == ""


async def test_an_answer_is_counted_as_it_comes_and_does_not_wait_for_ever(rooms, monkeypatch):
    n_pieces = 0

    async def receive():
        nonlocal n_pieces
        n_pieces += 1
        return {"type": "http.request", "body": bytes(200), "more_body": True}

    async def wait_for_ever():
        await asyncio.Event().wait()

    headers = [(b"content-length", b"10"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "headers": headers}
    assert (await routes._answer(Request(scope, receive))).status_code == 400
    assert n_pieces == 2
    monkeypatch.setattr(routes, "HALL_ANSWER_SECONDS", SimpleNamespace(maximum=0.01))
    assert (await routes._answer(Request(scope, wait_for_ever))).status_code == 400
