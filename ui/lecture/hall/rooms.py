"""Rooms of a hall: the present question, everybody's answers, and the phones that have joined.

They lie in a file of SQLite, which all processes of a machine share: a phone and its lecturer may be served by two.
"""

import hashlib
import json
import os
import secrets
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from attention_core.concurrency import Lock
from ui.hosting.bounds import (
    HALL_PHONES,
    HALL_PHONES_OF_ADDRESS,
    HALL_QUESTIONS,
    HALL_ROOMS,
    HALL_ROOMS_OF_ADDRESS,
)

FILE_VARIABLE = "ATTENTION_ROOMS"  # names the file of rooms; all processes behind one address need the same
CODE_LETTERS = "BCDFGHJKMNPQRTVWXZ2346789"
"""None looks like another, and there are no vowels, so that no code is a word."""
CODE_LENGTH = 6
SECONDS_FOR_LOCK, SECONDS_OF_REST = 0.5, 1.0
"""How long a request waits for the file, and how long all are refused at once after it could not be used."""
UNAVAILABLE = "The hall's rooms cannot be used at the moment. Hands can be counted."
MAX_SECONDS, MAX_IDLE_SECONDS = 3 * 3600, 600
"""How long a room may be open, and how long without a request of its lecturer."""
JOINED = "select 1 from phones where room = ? and phone = ?"
VERSION = 2
TABLES = f"""
begin immediate;
drop table if exists rooms;
drop table if exists questions;
drop table if exists answers;
drop table if exists phones;
create table rooms(
    code text primary key, key text, opened real, seen real, question integer, revealed integer, address text);
create table questions(
    number integer primary key, room text, mark text, page text, body text, correct text, hands text);
create table answers(question integer, phone text, answer integer, primary key(question, phone)) without rowid;
create table phones(room text, phone text, address text, primary key(room, phone)) without rowid;
create index questions_of_room on questions(room);
pragma user_version = {VERSION};
commit;
"""
"""Of a file that is new, or of another version: rooms need not outlive an update."""


class RoomError(ValueError):
    """A room, a question or an answer that does not exist or is refused; its message is for people."""


class ClosedError(RoomError):
    """There is no such room, or no longer."""


class UnavailableError(RoomError):
    """The file of rooms cannot be used at the moment."""


@dataclass(frozen=True)
class HallQuestion:
    """A question to the hall."""

    page: str  # on which page, for people
    text: str  # the question
    options: tuple[str, ...]  # the words of each answer

    @property
    def fingerprint(self) -> str:
        """A hash of the question."""
        return hashlib.blake2b(json.dumps(asdict(self)).encode(), digest_size=8).hexdigest()


@dataclass(frozen=True)
class Tally:
    """How often each option of a question was chosen, by phones and raised hands together, and the correct ones."""

    counts: tuple[int, ...]
    correct: tuple[int, ...]

    @property
    def n(self) -> int:
        """The number of answers."""
        return sum(self.counts)

    @property
    def n_correct(self) -> int:
        return sum(self.counts[option] for option in self.correct)


class Rooms:
    """The rooms in a file, which is created with the first room, readable by its owner alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock, self._rests_until = Lock("rooms"), 0.0

    @cached_property
    def _connection(self) -> sqlite3.Connection:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.touch(mode=0o600)
        database = sqlite3.connect(self.path, timeout=SECONDS_FOR_LOCK, check_same_thread=False)
        try:
            database.execute("pragma journal_mode = wal")
            database.execute("pragma synchronous = off")  # rooms need not outlive the machine
            if database.execute("pragma user_version").fetchone()[0] != VERSION:
                database.executescript(TABLES)
        except sqlite3.Error:
            database.close()
            raise
        return database

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Hand the connection to one thread at a time, and commit at the end, or roll back after an error.

        Raises:
            UnavailableError: the file is locked, damaged or cannot be written, or was so a moment ago.
        """
        with self._lock:
            if time.monotonic() < self._rests_until:
                raise UnavailableError(UNAVAILABLE)
            try:
                with self._connection as database:
                    yield database
            except (sqlite3.Error, OSError) as error:
                self._rests_until = time.monotonic() + SECONDS_OF_REST
                if connection := self.__dict__.pop("_connection", None):
                    connection.close()
                raise UnavailableError(UNAVAILABLE) from error

    def open(self, address: str = "") -> tuple[str, str]:
        """Open a room for an address, "" = unknown; return its code, for all, and its key, for the lecturer alone.

        Raises:
            RoomError: as many are open as the server allows, or as it allows this address.
        """
        self.drop_old()
        key, opened = secrets.token_urlsafe(16), time.monotonic()
        with self._transaction() as database:
            if database.execute("select count(*) from rooms").fetchone()[0] >= HALL_ROOMS.maximum:
                raise RoomError("Too many rooms are open on this server. Try again in a while.")
            query = "select count(*) from rooms where address = ? and address != ''"
            if database.execute(query, (address,)).fetchone()[0] >= HALL_ROOMS_OF_ADDRESS.maximum:
                raise RoomError("Too many rooms are open from your network. Close one, or try again in a while.")
            code = "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
            row = code, _hashed(key), opened, opened, address
            database.execute("insert into rooms values (?, ?, ?, ?, null, 0, ?)", row)
        return code, key

    def confirm_lecturer(self, code: str, key: str) -> bool:
        """Return whether the room is open and this is its key; if so, note the time of its lecturer's request."""
        with self._transaction() as database:
            row = database.execute("select key, opened, seen from rooms where code = ?", (code,)).fetchone()
            if row is None or not secrets.compare_digest(row[0], _hashed(key)) or _is_over(*row[1:]):
                return False
            database.execute("update rooms set seen = ? where code = ?", (time.monotonic(), code))
        return True

    def close(self, code: str) -> None:
        """Close a room and delete its questions, answers and phones."""
        with self._transaction() as database:
            database.execute(
                "delete from answers where question in (select number from questions where room = ?)", (code,)
            )
            for table, column in (("questions", "room"), ("phones", "room"), ("rooms", "code")):
                database.execute(f"delete from {table} where {column} = ?", (code,))

    def drop_old(self) -> None:
        """Close the rooms that have been open too long, or whose lecturer is gone."""
        with self._transaction() as database:
            rooms = database.execute("select code, opened, seen from rooms").fetchall()
        for code, opened, last_request in rooms:
            if _is_over(opened, last_request):
                self.close(code)

    def ask(self, code: str, question: HallQuestion) -> int:
        """Make this the room's present question and return its number; one that was asked before keeps its answers.

        Raises:
            RoomError: the room has had as many questions as it may.
        """
        with self._transaction() as database:
            number = _question_number(database, code, question)
            if number is None:
                n_questions = database.execute("select count(*) from questions where room = ?", (code,)).fetchone()[0]
                if n_questions >= HALL_QUESTIONS.maximum:
                    raise RoomError("This room has been asked too much: close it, and open another.")
                body = json.dumps(asdict(question))
                number = database.execute(
                    "insert into questions values (null, ?, ?, ?, ?, '[]', '[]')",
                    (code, question.fingerprint, question.page, body),
                ).lastrowid
            database.execute("update rooms set question = ?, revealed = 0 where code = ?", (number, code))
        return int(number or 0)

    def reveal(self, code: str, question: HallQuestion, correct: Sequence[int]) -> Tally | None:
        """Show phones which options are correct; return the tally, None if the room was not asked this question."""
        with self._transaction() as database:
            number = _question_number(database, code, question)
            if number is None:
                return None
            database.execute("update questions set correct = ? where number = ?", (json.dumps(list(correct)), number))
            database.execute("update rooms set question = ?, revealed = 1 where code = ?", (number, code))
        return self.tally(number)

    def pause(self, code: str) -> None:
        """End the present question; phones wait for the next."""
        with self._transaction() as database:
            database.execute("update rooms set question = null where code = ?", (code,))

    def raise_hands(self, code: str, question: HallQuestion, hands: Sequence[int]) -> None:
        """Set the number of raised hands for each option of a question."""
        with self._transaction() as database:
            number = _question_number(database, code, question)
            database.execute("update questions set hands = ? where number = ?", (json.dumps(list(hands)), number))

    def has_joined(self, code: str, phone: str) -> bool:
        """Return whether a phone has joined a room."""
        with self._transaction() as database:
            return database.execute(JOINED, (code, phone)).fetchone() is not None

    def join(self, code: str, phone: str, address: str = "") -> None:
        """Let a phone join a room, from an address, "" = unknown.

        Raises:
            RoomError: there is no such room, or it is full, or holds as many phones of this address as it may.
        """
        with self._transaction() as database:
            self._present_question(database, code)
            query = (
                "select count(*), coalesce(max(phone = ?), 0), coalesce(sum(address = ?), 0) from phones where room = ?"
            )
            n_phones, has_joined, n_of_address = database.execute(query, (phone, address, code)).fetchone()
            is_full = n_phones >= HALL_PHONES.maximum or (address and n_of_address >= HALL_PHONES_OF_ADDRESS.maximum)
            if is_full and not has_joined:
                raise RoomError("This room is full.")
            database.execute("insert or ignore into phones values (?, ?, ?)", (code, phone, address))

    def answer(self, code: str, number: int, phone: str, answer: int) -> None:
        """Record a phone's answer, in place of its earlier one.

        Raises:
            RoomError: there is no such room, option or phone, or the question is over.
        """
        with self._transaction() as database:
            present, revealed = self._present_question(database, code)
            if present != number or revealed:
                raise RoomError("This question is over.")
            (body,) = database.execute("select body from questions where number = ?", (number,)).fetchone()
            if not 0 <= answer < len(json.loads(body)["options"]):
                raise RoomError("There is no such answer.")
            if not database.execute(JOINED, (code, phone)).fetchone():
                raise RoomError("This phone has not joined.")
            database.execute("insert or replace into answers values (?, ?, ?)", (number, phone, answer))

    def state(self, code: str) -> dict[str, Any]:
        """Return what phones show: the question's number and body; once revealed, the correct options and the counts.

        Raises:
            RoomError: there is no such room.
        """
        with self._transaction() as database:
            number, revealed = self._present_question(database, code)
            if number is None:
                return {"number": 0}
            (body,) = database.execute("select body from questions where number = ?", (number,)).fetchone()
        state = {"number": number, "revealed": bool(revealed), **json.loads(body)}
        if revealed:
            tally = self.tally(number)
            state |= {"correct": tally.correct, "n": tally.n, "n_correct": tally.n_correct}
        return state

    def attendance(self, code: str) -> dict[str, Any]:
        """Return how many phones have joined and answered, and the tally of a revealed question."""
        with self._transaction() as database:
            (n_phones,) = database.execute("select count(*) from phones where room = ?", (code,)).fetchone()
            (n_answers,) = database.execute(
                "select count(*) from answers where question = (select question from rooms where code = ?)", (code,)
            ).fetchone()
        state = self.state(code)
        counts = {"options": state["options"], **asdict(self.tally(state["number"]))} if state.get("revealed") else {}
        return {"present": n_phones, "answered": n_answers, **counts}

    def tally(self, number: int) -> Tally:
        """Count the answers to the question of this number."""
        with self._transaction() as database:
            body, correct, hands = database.execute(
                "select body, correct, hands from questions where number = ?", (number,)
            ).fetchone()
            query = "select answer, count(*) from answers where question = ? group by answer"
            counts = Counter(dict(database.execute(query, (number,))))
        counts.update(dict(enumerate(json.loads(hands))))
        options = range(len(json.loads(body)["options"]))
        return Tally(tuple(counts[option] for option in options), tuple(json.loads(correct)))

    def results(self, code: str) -> list[dict[str, Any]]:
        """Return a room's questions in order: page, question, answers, and how many are right (None until revealed)."""
        with self._transaction() as database:
            questions = database.execute(
                "select number, page, body from questions where room = ? order by number", (code,)
            ).fetchall()
        results = []
        for number, page, body in questions:
            tally = self.tally(number)
            n_correct = tally.n_correct if tally.correct else None
            results.append({"page": page, "question": json.loads(body)["text"], "answers": tally.n, "right": n_correct})
        return results

    def _present_question(self, database: sqlite3.Connection, code: str) -> tuple[int | None, int]:
        """Return the number of an open room's question, None = phones wait for one, and whether it is revealed."""
        row = database.execute("select question, revealed, opened, seen from rooms where code = ?", (code,)).fetchone()
        if row is None or _is_over(*row[2:]):
            raise ClosedError("This room is closed.")
        return row[:2]


def _question_number(database: sqlite3.Connection, code: str, question: HallQuestion) -> int | None:
    """Return the number of a question in a room, None if it was not asked there."""
    query = "select number from questions where room = ? and mark = ?"
    row = database.execute(query, (code, question.fingerprint)).fetchone()
    return None if row is None else row[0]


def _hashed(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def _is_over(opened: float, last_request: float) -> bool:
    now = time.monotonic()
    is_before_restart = opened > now  # of the machine, which sets its clock to 0
    return is_before_restart or now - opened > MAX_SECONDS or now - last_request > MAX_IDLE_SECONDS


_USER = os.getuid() if hasattr(os, "getuid") else 0  # Windows has none
_FOLDER = Path(tempfile.gettempdir()) / f"attention-explorer-{_USER}"
ROOMS = Rooms(Path(os.environ.get(FILE_VARIABLE) or _FOLDER / "rooms.sqlite"))
