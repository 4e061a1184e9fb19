"""A pseudo-terminal for commands, and a small emulator that says what a person sees on it.

The emulator knows what terminals do with the sequences that Rich writes to redraw a table: carriage return, newline,
cursor up, erase line, wrapping at the right margin, and scrolling. Anything else that moves the cursor is an error.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import termios
import threading
from typing import NamedTuple

_PIECES = re.compile(rb"\x1b\[([?\d;]*)([A-Za-z])|([\r\n\x08\x07])|([^\x1b\r\n\x08\x07]+)|(\x1b)")


class Screen:
    """A screen of *width* columns and *height* lines, with all lines that scrolled off its top."""

    def __init__(self, width, height):
        self.width, self.height = width, height
        self.shows_cursor = True
        self._rows = [""]
        self._wrapped = set()  # rows that continue the row above
        self._row = self._column = 0

    @property
    def lines(self):
        """All lines that can still be read, also by scrolling up; wrapped ones are joined, as when they are copied."""
        lines = []
        for number, row in enumerate(self._rows):
            if number in self._wrapped:
                lines[-1] += row
            else:
                lines.append(row)
        return [line.rstrip() for line in lines]

    def feed(self, output):
        """Show *output*, which must not end within a sequence or character."""
        for values, command, control, text, escape in _PIECES.findall(output):
            if text:
                for character in text.decode():
                    self._put(character)
            elif control == b"\r":
                self._column = 0
            elif control == b"\n":
                self._down()
            elif command == b"A":
                top = max(0, len(self._rows) - self.height)
                self._row = max(top, self._row - int(values or 1))
            elif command == b"K" and values == b"2":
                self._rows[self._row] = ""
            elif command in (b"h", b"l") and values == b"?25":
                self.shows_cursor = command == b"h"
            elif escape or command not in (b"m", b""):
                raise ValueError(f"unknown sequence {values!r} {command!r}")

    def _put(self, character):
        if self._column == self.width:  # a terminal wraps when the next character comes
            self._column = 0
            self._down()
            self._wrapped.add(self._row)
        line = self._rows[self._row].ljust(self._column)
        self._rows[self._row] = line[: self._column] + character + line[self._column + 1 :]
        self._column += 1

    def _down(self):
        self._row += 1
        if self._row == len(self._rows):
            self._rows.append("")
        self._wrapped.discard(self._row)


class _OnTerminal(NamedTuple):
    """Called in the process of a command before it starts: makes the terminal its standard error."""

    path: str

    def __call__(self):
        opened = os.open(self.path, os.O_RDWR)  # the controlling terminal, so that it receives Ctrl-C
        os.dup2(opened, 2)
        os.close(opened)
        os.environ["TERM"] = "xterm-256color"
        for name in ("NO_COLOR", "COLUMNS", "LINES"):
            os.environ.pop(name, None)


class Terminal:
    """A pseudo-terminal; use as a context manager. `before` goes to the `Run` whose standard error it is to be."""

    def __init__(self, width=80, height=24):
        self.output = b""
        self._width, self._height = width, height
        self._master, self._slave = pty.openpty()
        self.before = _OnTerminal(os.ttyname(self._slave))
        self._thread = threading.Thread(target=self._read)
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        os.close(self._slave)  # the last one, if the command has ended: then the reader ends
        self._thread.join()
        os.close(self._master)

    def press(self, keys):
        os.write(self._master, keys)

    def screen(self):
        """Return what can be read on the terminal; call it after the `with` block."""
        screen = Screen(self._width, self._height)
        screen.feed(self.output)
        return screen

    def _read(self):
        while True:
            try:
                some = os.read(self._master, 1 << 16)
            except OSError:  # no process has it open any more
                return
            self.output += some
