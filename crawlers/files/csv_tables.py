"""Tables for people: as text for a terminal, and as CSV files, in which no cell runs as a formula.

Titles are written by strangers, and a spreadsheet runs a cell that begins with ``=``, ``+``, ``-`` or ``@``
as a formula. A text (label or string attribute) that begins with one of these, with their full-width
equivalents, or with tab, newline or carriage return is therefore prefixed with an apostrophe. So is a text that
begins with an apostrophe, which makes the rule reversible: removing one leading apostrophe restores the original
text. Numbers are unchanged.

References
----------
.. [1] OWASP, CSV Injection, https://owasp.org/www-community/attacks/CSV_Injection
"""

from __future__ import annotations

import csv
import fcntl
import io
import math
import os
import re
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING

from crawlers.batches import batches
from crawlers.files.atomic import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

Value = str | int | float | bool | None

FORMULA_STARTS = tuple("=+-@\t\n\r＝＋－＠'")
_UNCHANGED = frozenset({int, type(None)})
_PLAIN = re.compile("(?![=+@'-])[\x20-\x7e]*")  # most texts: neither to be cleaned nor guarded
# Everything outside the production Char of XML 1.0 (https://www.w3.org/TR/xml/#charsets); DEL and the controls of C1,
# which steer terminals, too (ECMA-48); and the characters of Unicode Standard Annex 9, section 2, which change the
# direction of the text behind them.
_CONTROLS = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def clean(text: str) -> str:
    """Return *text* with U+FFFD in place of each character that XML 1.0 can't hold, or that controls its display.

    These are the control characters except tab, newline and carriage return, those that change the direction of text,
    lone surrogates, U+FFFE and U+FFFF. They are replaced, as HTML parsers replace NUL, and not removed, so that a
    reader sees that something was there. All text of the web that people see is cleaned here, when it is written into
    a file, a page of the panel or a terminal.

    >>> clean("a" + chr(0) + "b") == clean("a" + chr(0x202E) + "b") == "a" + chr(0xFFFD) + "b"
    True
    """
    return text if text.isascii() and text.isprintable() else _CONTROLS.sub("\ufffd", text)


def cut(text: str, most: int) -> str:
    """Return *text*, cut to *most* characters.

    >>> cut("http://example.org/", 10)
    'http://ex…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def aligned(lines: Sequence[Sequence[str]], are_numbers: Sequence[bool]) -> str:
    """Return the cells of *lines* as a table for a terminal; columns that *are_numbers* are aligned at their right.

    >>> print(aligned([["site", "pages"], ["a.test", "7"]], [False, True]))
    site    pages
    a.test      7
    """
    kinds = [*zip(map(max, zip(*(map(len, line) for line in lines), strict=True)), are_numbers, strict=True)]
    padded = (
        [
            one.rjust(width) if is_number else one.ljust(width)
            for one, (width, is_number) in zip(line, kinds, strict=True)
        ]
        for line in lines
    )
    return clean("\n".join("  ".join(line).rstrip() for line in padded))


def cell(value: Value) -> str | None:
    """Return the text of *value*, or None if there is nothing to write.

    Floats are written with `repr`, so that they read back exactly. Infinities and NaN, which
    readers of these formats write differently, count as nothing.

    >>> cell(0.1), cell(True), cell(None)
    ('0.1', 'true', None)
    """
    if type(value) is int:  # first, because most values are: a page has five of them
        return str(value)
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(float(value)) if math.isfinite(value) else None  # float(): numpy's repr names its type
    return None if value is None else str(value)


def guarded_cell(value: Value) -> str | None:
    """Return the text of *value* as a cell that no spreadsheet runs as a formula; None if there is nothing to write."""
    return guarded(value) if isinstance(value, str) else cell(value)


def unguarded(text: str) -> str:
    """Return the text whose cell is *text*, see `guarded`.

    >>> unguarded("'=1+1"), unguarded("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA_STARTS) else text


def guarded(text: str) -> str:
    """Return *text*, escaped so that no spreadsheet runs it as a formula.

    >>> guarded("=1+1"), guarded("1+1")
    ("'=1+1", '1+1')
    """
    text = clean(text)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def utc(seconds: float) -> str:
    """Return a time, in seconds since 1970, in the format that spreadsheets read.

    >>> utc(0.0)
    '1970-01-01 00:00:00'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


def iso_time(seconds: float | None) -> str | None:
    """Return a time in seconds since 1970 in ISO 8601, in UTC and whole seconds.

    >>> iso_time(0.0)
    '1970-01-01T00:00:00Z'
    """
    return None if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


ROWS_AT_ONCE = 500


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> int:
    """Write *rows* to *path* below a line of headings, and return their number. Raises the same as `write_graph`."""
    with replacing(path) as stream:
        return write_rows(stream, columns, rows)


def write_rows(stream: IO[bytes], columns: Sequence[str], rows: Iterable[Iterable[Value]]) -> int:
    """Write *rows* to *stream*, in UTF-8 without byte order mark, below a line of headings; return their number."""
    stream.write(csv_text([columns]))
    number = 0
    for some in batches(rows, ROWS_AT_ONCE):
        stream.write(csv_text(some))
        number += len(some)
    return number


def csv_text(rows: Iterable[Iterable[Value]]) -> bytes:
    """Return *rows* as RFC 4180 says, in UTF-8."""
    text = io.StringIO(newline="")
    write = csv.writer(text).writerow
    for row in rows:
        write(
            [
                one
                if type(one) in _UNCHANGED or (isinstance(one, str) and _PLAIN.fullmatch(one))
                else guarded_cell(one)
                for one in row
            ]
        )
    return text.getvalue().encode()


class CsvLog:
    """A log that is appended to, also by several processes; a file that was moved or removed is followed by a new one.

    To look for a file and to append to it takes longer than to make a line: *rows* are written many at a time. Raises
    `OSError`.
    """

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self.rows: list[tuple[Value, ...]] = []  # that are not written yet
        self._path = path
        self._headings = csv_text([columns])
        self._append(b"")

    def write_rows(self) -> None:
        """Append the rows to the file."""
        if self.rows:
            lines = csv_text(self.rows)
            self.rows.clear()
            self._append(lines)

    def _append(self, lines: bytes) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # until it is closed: only one process writes the headings
            if os.fstat(file.fileno()).st_size == 0:
                file.write(self._headings)
            file.write(lines)
