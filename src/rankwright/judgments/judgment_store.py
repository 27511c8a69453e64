"""The store of judgments: one SQLite file that several processes write to at once, and that survives their end.

A judgment is acknowledged when `add` returns: then it is on the disk, in the write-ahead log or in the file. Its id is
its name: adding it again changes nothing, so that whoever saw no acknowledgement may add it once more.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from rankwright.errors import FileFormatError, InputError, require_type
from rankwright.judgments.files.gathering import gather
from rankwright.judgments.judgment_table import Judgment, Judgments

SQLITE_MAGIC = b"SQLite format 3\0"
APPLICATION_ID = 0x52574A31  # RWJ1, in the file's header: what tells a store from other databases
VERSION = 2
WAIT_SECONDS = 60.0  # for another writer; one holds the file for as long as a commit takes
RETRY_SECONDS = 0.01  # between tries, where SQLite does not wait by itself
ROWS_AT_A_TIME = 1000
NAMES = ("id", "query", "document", "rater", "kind", "value", "other", "error", "time", "comment", "context")
SCHEMA = """
CREATE TABLE IF NOT EXISTS judgments (
    id TEXT PRIMARY KEY NOT NULL,
    query TEXT NOT NULL,
    document TEXT NOT NULL,
    rater TEXT NOT NULL,
    kind TEXT NOT NULL,
    value REAL NOT NULL,
    other TEXT,
    error REAL,
    time REAL,
    comment TEXT NOT NULL,
    context TEXT NOT NULL
) WITHOUT ROWID
"""
SELECT = f"SELECT {', '.join(NAMES)} FROM judgments"
INSERT = (
    f"INSERT INTO judgments ({', '.join(NAMES)}) VALUES ({', '.join('?' * len(NAMES))}) ON CONFLICT (id) DO NOTHING"
)
BY_ID = f"{SELECT} WHERE id = ?"
DELETE = "DELETE FROM judgments WHERE id = ?"


class JudgmentStore:
    """A file of judgments that several writers can use at once.

    Parameters
    ----------
    path : path
        The file. Beside it stand two more, which SQLite makes while it is open (`-wal` and `-shm`).
    create : bool, default True
        Whether a file that does not exist is made.

    Attributes
    ----------
    writes_of_others : int
        A number that is another one when somebody else has written to the file.

    Examples
    --------
    >>> import rankwright as rw
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, rw.judgments.JudgmentStore(Path(folder, "judged.db")) as store:
    ...     one = rw.judgments.Judgment("q1", "d1", "ann", 2)
    ...     store.add([one]), store.add([one]), len(store)
    (1, 0, 1)
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = True) -> None:
        self.path = os.fspath(path)
        is_new = not Path(self.path).exists() or Path(self.path).stat().st_size == 0
        if is_new and not create:
            raise FileNotFoundError(2, "No such file or directory", self.path)
        if not is_new:
            self._check_magic()
        with self._faults():
            self._connection = sqlite3.connect(self.path, timeout=WAIT_SECONDS, isolation_level=None)
        try:
            with self._faults():
                self._prepare(create)
        except BaseException:
            self._connection.close()
            raise

    def _check_magic(self) -> None:
        with Path(self.path).open("rb") as file:
            if file.read(len(SQLITE_MAGIC)) != SQLITE_MAGIC:
                raise FileFormatError(self.path, "is no store of judgments, which is an SQLite file")

    def _prepare(self, create: bool) -> None:
        """Make the table in a new file; check that an old one is a store."""
        run = self._connection.execute
        run("PRAGMA synchronous = FULL")  # a commit is on the disk before it is acknowledged
        run("PRAGMA trusted_schema = OFF")  # a file from a stranger may hold views and triggers
        is_empty = run("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if is_empty and create and run("PRAGMA application_id").fetchone()[0] == 0:
            self._log_ahead()
            run("BEGIN IMMEDIATE")
            run(SCHEMA)
            run(f"PRAGMA application_id = {APPLICATION_ID}")
            run(f"PRAGMA user_version = {VERSION}")
            run("COMMIT")
        self._check_schema()

    def _log_ahead(self) -> None:
        """Have a write-ahead log; where several make the file at once, SQLite refuses all but one without waiting."""
        end = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if not _is_kept(error) or time.monotonic() > end:
                    raise
                time.sleep(RETRY_SECONDS)
            else:
                return

    def _check_schema(self) -> None:
        run = self._connection.execute
        if run("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise FileFormatError(self.path, "is a database of something else; wanted a store of judgments")
        version = run("PRAGMA user_version").fetchone()[0]
        if version != VERSION:
            raise FileFormatError(self.path, f"is a store of version {version}; this program knows version {VERSION}")
        made = run("SELECT type, name FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        columns = tuple(row[1] for row in run("PRAGMA table_info(judgments)"))
        if made != [("table", "judgments")] or columns != NAMES:
            raise FileFormatError(self.path, "is damaged: its tables are not those of a store")

    def add(self, judgments: Iterable[Judgment]) -> int:
        """Add judgments: all of them or, where one cannot be added, none.

        Parameters
        ----------
        judgments : iterable of Judgment
            What to add. Those whose id is there already are passed over.

        Returns
        -------
        int
            How many were new. All that was given is on the disk by then.

        Raises
        ------
        InputError
            Where another judgment with the same id is there.
        """
        rows = []
        for one in judgments:
            require_type(one, Judgment, "a judgment", "a Judgment")
            rows.append((one.identity, one.query, one.document, one.rater, one.kind, one.value, one.other, one.error,
                         one.time, one.comment, one.context))  # fmt: skip
        n_new = 0
        with self._faults(), self._transaction():
            for row in rows:
                added = self._connection.execute(INSERT, row).rowcount
                if not added and self._connection.execute(BY_ID, row[:1]).fetchone() != row:
                    raise InputError(f"{self.path}: another judgment has the id {row[0]!r}")
                n_new += added
        return n_new

    def remove(self, ids: str | Iterable[str]) -> int:
        """Take judgments back, such as those given by mistake.

        Parameters
        ----------
        ids : str or iterable of str
            Their names; those that are not there are passed over.

        Returns
        -------
        int
            How many were there.
        """
        names = [ids] if isinstance(ids, str) else list(ids)
        for name in names:
            require_type(name, str, "an id", "a text")
        with self._faults(), self._transaction():
            return sum(self._connection.execute(DELETE, (name,)).rowcount for name in names)

    def add_table(self, judgments: Judgments) -> int:
        """Add all rows of a table; see `add`.

        Parameters
        ----------
        judgments : Judgments
            What to add.

        Returns
        -------
        int
            How many were new.
        """
        return self.add(judgments.rows())

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")  # waits for another writer here, and not half-way
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            self._connection.rollback()  # if SQLite has not done so itself, as on a full disk
            raise

    def rows(self) -> Iterator[Judgment]:
        """Yield each judgment, by id.

        Yields
        ------
        Judgment
            A judgment, as of the moment when the first was asked for.
        """
        with self._faults():
            cursor = self._connection.execute(f"{SELECT} ORDER BY id")
            while chunk := cursor.fetchmany(ROWS_AT_A_TIME):
                yield from map(self._judgment, chunk)

    def _judgment(self, row: tuple[object, ...]) -> Judgment:
        """A judgment, whose parts are checked: a file may hold anything."""
        found = dict(zip(NAMES, row, strict=True))
        other, value = found["other"], found["value"]
        texts = [found[name] for name in ("id", "query", "document", "rater", "kind", "comment", "context")]
        numbers = [found[name] for name in ("value", "error", "time")]
        if not all(isinstance(text, str) for text in texts) or not isinstance(other, str | None):
            raise FileFormatError(self.path, "is damaged: a judgment has a text that is none")
        if value is None or not all(isinstance(number, float | None) for number in numbers):
            raise FileFormatError(self.path, "is damaged: a judgment has a number that is none")
        parts = {name: found[name] for name in NAMES if name not in ("value", "other")}
        values = {"grade": value} if other is None else {"other": other, "preference": value}
        try:
            return Judgment(**parts, **values)  # type: ignore[arg-type]
        except InputError as error:
            raise FileFormatError(self.path, f"is damaged: {error}") from None

    def judgments(self) -> Judgments:
        """Return all judgments as a table.

        Returns
        -------
        Judgments
            The table; a store without judgments is an error.
        """
        try:
            return gather(self.rows())
        except FileFormatError:
            raise
        except InputError as error:
            raise FileFormatError(self.path, error.message) from None

    @property
    def writes_of_others(self) -> int:
        """A number that is another one when somebody else has written to the file."""
        with self._faults():
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def __len__(self) -> int:
        with self._faults():
            return int(self._connection.execute("SELECT count(*) FROM judgments").fetchone()[0])

    def close(self) -> None:
        """Close the file; a store can be closed twice."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Turn what SQLite says into one line that names the file."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if _is_kept(error):
                raise FileFormatError(self.path, f"another process has kept the store for {WAIT_SECONDS:g} s") from None
            told = " ".join(str(error).split())
            raise FileFormatError(self.path, f"cannot be used as a store: {told}") from None
        except (sqlite3.Error, OverflowError, UnicodeError) as error:
            raise FileFormatError(self.path, f"is damaged: {' '.join(str(error).split())}") from None


def _is_kept(error: sqlite3.OperationalError) -> bool:
    """Whether another process holds the file."""
    return "locked" in str(error) or "busy" in str(error)
