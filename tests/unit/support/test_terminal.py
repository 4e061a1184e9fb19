"""The terminal emulator of the tests does what terminals do."""

from __future__ import annotations

import pytest

from tests.support.terminal import Screen


def lines(output, width=10, height=3):
    screen = Screen(width, height)
    screen.feed(output)
    return screen.lines


def test_text_is_written_over_and_lines_are_erased():
    assert lines(b"abc\r\nxyz\rX\r\n") == ["abc", "Xyz", ""]
    assert lines(b"abc\r\nxyz\r\x1b[2K\x1b[1A\x1b[2Knew") == ["new", ""]


def test_cursor_does_not_leave_the_screen_upwards():
    assert lines(b"1\r\n2\r\n3\r\n4\r\n5\r\x1b[9A\x1b[2Ktop") == ["1", "2", "top", "4", "5"]


def test_long_lines_are_wrapped_and_joined_when_they_are_copied():
    assert lines(b"0123456789abc\r\nnext") == ["0123456789abc", "next"]


def test_narrower_window_wraps_what_is_there():
    screen = Screen(10, 5)
    screen.feed(b"log\r\n12345678")
    screen.resize(4, 5)
    screen.feed(b"\r\x1b[2K")
    assert screen.lines == ["log", "1234"]


def test_sequences_that_the_emulator_does_not_know_are_errors():
    with pytest.raises(ValueError, match="unknown"):
        lines(b"\x1b[5;5H")
