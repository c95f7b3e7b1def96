"""Rooms of a hall: the present question, everybody's answers, and the phones that have joined.

They lie in a file of SQLite, which all processes of a machine share: phones and lecturer may meet different ones.
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
from ui.hosting.bounds import HALL_PHONES, HALL_QUESTIONS, HALL_ROOMS

FILE = "ATTENTION_ROOMS"  # the variable that names the file of rooms; all processes behind one address need the same
LETTERS = "BCDFGHJKMNPQRTVWXZ2346789"
"""Of a room's code: none that looks like another, and no vowels, so that no words come of them."""
CODE_LENGTH = 5
MAX_SECONDS, MAX_IDLE_SECONDS = 3 * 3600, 600
"""How long a room lives, and how long without a request of its lecturer."""
TABLES = """
create table if not exists rooms(
    code text primary key, key text, opened real, seen real, question integer, revealed integer);
create table if not exists questions(
    number integer primary key, room text, mark text, page text, body text, correct text, hands text);
create table if not exists answers(
    question integer, phone text, answer integer, primary key(question, phone)) without rowid;
create table if not exists phones(room text, phone text, primary key(room, phone)) without rowid;
create index if not exists questions_of_room on questions(room);
"""


class RoomError(ValueError):
    """A room, a question or an answer that does not exist or is refused; its message is for people."""


@dataclass(frozen=True)
class HallQuestion:
    """A question to the hall."""

    page: str  # on which page, for people
    text: str  # the question
    options: tuple[str, ...]  # the words of each answer; of a matrix, row by row
    columns: int = 0  # of a matrix, so that phones draw one; 0 = the options stand in a list
    rows: tuple[str, ...] = ()  # the labels of a matrix' rows
    # what lies below the matrix, as the address of a PNG that holds it; then its labels are only read aloud
    picture: str = ""

    @property
    def fingerprint(self) -> str:
        """A hash of the question."""
        return hashlib.blake2b(json.dumps(asdict(self)).encode(), digest_size=8).hexdigest()


@dataclass(frozen=True)
class Tally:
    """How often each option of a question was chosen, by phones and raised hands together."""

    counts: tuple[int, ...]
    correct: tuple[int, ...]

    @property
    def n(self) -> int:
        return sum(self.counts)

    @property
    def n_correct(self) -> int:
        return sum(self.counts[option] for option in self.correct)


class Rooms:
    """The rooms in a file, which is made when the first one is opened, readable by its owner alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock("rooms")

    @cached_property
    def _connection(self) -> sqlite3.Connection:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.touch(mode=0o600)
        rows = sqlite3.connect(self.path, timeout=5, check_same_thread=False)
        rows.execute("pragma journal_mode = wal")
        rows.execute("pragma synchronous = off")  # rooms need not outlive the machine
        rows.executescript(TABLES)
        return rows

    @contextmanager
    def _rows(self) -> Iterator[sqlite3.Connection]:
        """Give the file's rows to one thread at a time, and commit what was done."""
        with self._lock, self._connection as rows:
            yield rows

    def open(self) -> tuple[str, str]:
        """Open a room; returns its code, which everybody may see, and its key, which the lecturer alone has.

        Raises:
            RoomError: there are as many as the server takes.
        """
        self.drop_old()
        key, opened = secrets.token_urlsafe(16), time.monotonic()
        with self._rows() as rows:
            if rows.execute("select count(*) from rooms").fetchone()[0] >= HALL_ROOMS.maximum:
                raise RoomError("Too many rooms are open on this server. Try again in a while.")
            code = "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))
            rows.execute("insert into rooms values (?, ?, ?, ?, null, 0)", (code, _hashed(key), opened, opened))
        return code, key

    def is_lecturer(self, code: str, key: str) -> bool:
        """Return whether the room lives and the key is its own, which counts as a sign of the lecturer."""
        with self._rows() as rows:
            row = rows.execute("select key, opened, seen from rooms where code = ?", (code,)).fetchone()
            if row is None or not secrets.compare_digest(row[0], _hashed(key)) or _is_over(*row[1:]):
                return False
            rows.execute("update rooms set seen = ? where code = ?", (time.monotonic(), code))
        return True

    def close(self, code: str) -> None:
        """Close a room and forget all that was asked and answered in it."""
        with self._rows() as rows:
            rows.execute("delete from answers where question in (select number from questions where room = ?)", (code,))
            for table, column in (("questions", "room"), ("phones", "room"), ("rooms", "code")):
                rows.execute(f"delete from {table} where {column} = ?", (code,))

    def drop_old(self) -> None:
        """Close the rooms that have lived too long, or whose lecturer is gone."""
        with self._rows() as rows:
            every = rows.execute("select code, opened, seen from rooms").fetchall()
        for code, opened, last_sign in every:
            if _is_over(opened, last_sign):
                self.close(code)

    def ask(self, code: str, question: HallQuestion) -> int:
        """Make a question that of the moment and return its number; a question of before keeps its answers.

        Raises:
            RoomError: the room has been asked too much.
        """
        with self._rows() as rows:
            number = _number(rows, code, question)
            if number is None:
                n = rows.execute("select count(*) from questions where room = ?", (code,)).fetchone()[0]
                if n >= HALL_QUESTIONS.maximum:
                    raise RoomError("This room has been asked too much: close it, and open another.")
                body = json.dumps(asdict(question))
                number = rows.execute(
                    "insert into questions values (null, ?, ?, ?, ?, '[]', '[]')",
                    (code, question.fingerprint, question.page, body),
                ).lastrowid
            rows.execute("update rooms set question = ?, revealed = 0 where code = ?", (number, code))
        return int(number or 0)

    def reveal(self, code: str, question: HallQuestion, correct: Sequence[int]) -> Tally | None:
        """Say which options are right; returns the answers, None where this question was not asked."""
        with self._rows() as rows:
            number = _number(rows, code, question)
            if number is None:
                return None
            rows.execute("update questions set correct = ? where number = ?", (json.dumps(list(correct)), number))
            rows.execute("update rooms set question = ?, revealed = 1 where code = ?", (number, code))
        return self.tally(number)

    def pause(self, code: str) -> None:
        """Let phones wait for the next question."""
        with self._rows() as rows:
            rows.execute("update rooms set question = null where code = ?", (code,))

    def raise_hands(self, code: str, question: HallQuestion, hands: Sequence[int]) -> None:
        """Set the number of raised hands for each option of a question."""
        with self._rows() as rows:
            number = _number(rows, code, question)
            rows.execute("update questions set hands = ? where number = ?", (json.dumps(list(hands)), number))

    def join(self, code: str, phone: str) -> None:
        """Let a phone join a room.

        Raises:
            RoomError: there is no such room, or it is full.
        """
        with self._rows() as rows:
            self._living(rows, code)
            n, is_in = rows.execute(
                "select count(*), coalesce(max(phone = ?), 0) from phones where room = ?", (phone, code)
            ).fetchone()
            if not is_in and n >= HALL_PHONES.maximum:
                raise RoomError("This room is full.")
            rows.execute("insert or ignore into phones values (?, ?)", (code, phone))

    def answer(self, code: str, number: int, phone: str, answer: int) -> None:
        """Record a phone's answer, in place of its earlier one.

        Raises:
            RoomError: there is no such room, option or phone, or the question is over.
        """
        with self._rows() as rows:
            present, revealed = self._living(rows, code)
            if present != number or revealed:
                raise RoomError("This question is over.")
            (body,) = rows.execute("select body from questions where number = ?", (number,)).fetchone()
            if not 0 <= answer < len(json.loads(body)["options"]):
                raise RoomError("There is no such answer.")
            if not rows.execute("select 1 from phones where room = ? and phone = ?", (code, phone)).fetchone():
                raise RoomError("This phone has not joined.")
            rows.execute("insert or replace into answers values (?, ?, ?)", (number, phone, answer))

    def state(self, code: str) -> dict[str, Any]:
        """Return what phones show: the question's number and body; once revealed, the correct options and the counts.

        Raises:
            RoomError: there is no such room.
        """
        with self._rows() as rows:
            number, revealed = self._living(rows, code)
            if number is None:
                return {"number": 0}
            (body,) = rows.execute("select body from questions where number = ?", (number,)).fetchone()
        state = {"number": number, "revealed": bool(revealed), **json.loads(body)}
        if revealed:
            tally = self.tally(number)
            state |= {"correct": tally.correct, "n": tally.n, "n_correct": tally.n_correct}
        return state

    def attendance(self, code: str) -> dict[str, Any]:
        """Return how many phones have joined and answered; of a revealed list of options also the tally."""
        with self._rows() as rows:
            (present,) = rows.execute("select count(*) from phones where room = ?", (code,)).fetchone()
            (answered,) = rows.execute(
                "select count(*) from answers where question = (select question from rooms where code = ?)", (code,)
            ).fetchone()
        state = self.state(code)
        counts = {"options": state["options"], **asdict(self.tally(state["number"]))} if state.get("revealed") else {}
        return {"present": present, "answered": answered, **({} if state.get("columns") else counts)}

    def tally(self, number: int) -> Tally:
        with self._rows() as rows:
            body, correct, hands = rows.execute(
                "select body, correct, hands from questions where number = ?", (number,)
            ).fetchone()
            chosen = Counter(
                dict(rows.execute("select answer, count(*) from answers where question = ? group by answer", (number,)))
            )
        raised = json.loads(hands)
        options = range(len(json.loads(body)["options"]))
        return Tally(
            tuple(chosen[option] + (raised[option] if option < len(raised) else 0) for option in options),
            tuple(json.loads(correct)),
        )

    def results(self, code: str) -> list[dict[str, Any]]:
        """Return a room's questions in their order: page, question, answers, right (None = not shown yet)."""
        with self._rows() as rows:
            questions = rows.execute(
                "select number, page, body from questions where room = ? order by number", (code,)
            ).fetchall()
        results = []
        for number, page, body in questions:
            tally = self.tally(number)
            right = tally.n_correct if tally.correct else None
            results.append({"page": page, "question": json.loads(body)["text"], "answers": tally.n, "right": right})
        return results

    def _living(self, rows: sqlite3.Connection, code: str) -> tuple[int | None, int]:
        row = rows.execute("select question, revealed, opened, seen from rooms where code = ?", (code,)).fetchone()
        if row is None or _is_over(*row[2:]):
            raise RoomError("This room is closed.")
        return row[:2]


def _number(rows: sqlite3.Connection, code: str, question: HallQuestion) -> int | None:
    """Return the number of a question in a room; None where it was not asked."""
    query = "select number from questions where room = ? and mark = ?"
    return (rows.execute(query, (code, question.fingerprint)).fetchone() or (None,))[0]


def _hashed(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def _is_over(opened: float, last_sign: float) -> bool:
    age, idle = (time.monotonic() - moment for moment in (opened, last_sign))
    return age > MAX_SECONDS or idle > MAX_IDLE_SECONDS or age < 0  # opened before the machine started anew


_FOLDER = Path(tempfile.gettempdir()) / f"attention-explorer-{getattr(os, 'getuid', int)()}"
ROOMS = Rooms(Path(os.environ.get(FILE) or _FOLDER / "rooms.sqlite"))
