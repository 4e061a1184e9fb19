"""Reads text files, and quotes their values in messages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.errors import ConfigError, without_passwords

if TYPE_CHECKING:
    from collections.abc import Sequence

PROBLEMS_SHOWN = 20  # fit on a screen; a binary file has thousands
TEXT_SHOWN = 80  # characters of a faulty line or value
PATH_SHOWN = 300  # of a path, whose end counts


def read_text(path: str, most_bytes: int, remedy: str) -> str:
    """Return the text of the file *path*, in UTF-8.

    Raises `ConfigError` if the file can't be read, and with the *remedy* if it is larger than *most_bytes*.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(most_bytes + 1)
    except (OSError, ValueError) as error:  # a file name with a NUL raises ValueError
        reason = error.strerror if isinstance(error, OSError) else error
        name = path if path.isprintable() and len(path) <= PATH_SHOWN else quoted(path)
        raise ConfigError(f"{name} cannot be read: {reason}; check name and permissions") from error
    if len(content) > most_bytes:
        raise ConfigError(f"{path} is larger than {most_bytes} bytes; {remedy}")
    return decoded(content, path)


def decoded(content: bytes, name: str) -> str:
    """Return the text of the file *name*, which is in UTF-8. Raises `ConfigError`."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{name} is not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8"
        ) from error


def quoted(text: str) -> str:
    """Return a value as quoted in messages."""
    return repr(shortened(text))


def shortened(text: str) -> str:
    """Return a value, truncated to `TEXT_SHOWN` characters, without passwords, which can't be recognised once cut."""
    text = without_passwords(text)
    return text if len(text) <= TEXT_SHOWN else f"{text[:TEXT_SHOWN]}…"


def is_whole(text: str, least: int, most: int) -> bool:
    """Return whether *text* is a whole number from *least* to *most*."""
    # The length is checked first because int() rejects thousands of digits with an error.
    return text.isascii() and text.isdigit() and len(text) <= 12 and least <= int(text) <= most


def place_of(origin: str, line: int) -> str:
    """Return where a line is, as messages begin: in the file *origin*, or in a text that people typed if that is "".

    >>> place_of("hosts.txt", 3), place_of("", 3)
    ('hosts.txt:3', 'Line 3')
    """
    return f"{origin}:{line}" if origin else f"Line {line}"


def said_of(origin: str, what: str) -> str:
    """Return *what* is wrong, behind the name of the file *origin* if there is one.

    >>> said_of("hosts.txt", "no sites found"), said_of("", "no sites found")
    ('hosts.txt: no sites found', 'No sites found')
    """
    return f"{origin}: {what}" if origin else what[:1].upper() + what[1:]


def shortened_list(problems: Sequence[str]) -> list[str]:
    """Return the first `PROBLEMS_SHOWN` *problems*, and the number of the others."""
    left_out = len(problems) - PROBLEMS_SHOWN
    return [*problems[:PROBLEMS_SHOWN], *([f"… and {left_out} more"] if left_out > 0 else [])]
