"""Files that people write: their text, and how messages quote it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

PROBLEMS_SHOWN = 50  # who gives us a picture instead of a list wants no screen full
TEXT_SHOWN = 80  # characters of a faulty line or value


def read_text(path: str, most_bytes: int, remedy: str) -> str:
    """Return the text of the file *path*, in UTF-8.

    Raises `ConfigError` if it can't be read, or is larger than *most_bytes*, for which people know a *remedy*.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(most_bytes + 1)
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{path} can't be read: {reason}; check name and permissions") from error
    if len(content) > most_bytes:
        raise ConfigError(f"{path} is larger than {most_bytes} bytes; {remedy}")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path} is no UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8"
        ) from error


def shown(text: str) -> str:
    """Return a value as messages quote it."""
    return repr(shortened(text))


def shortened(text: str) -> str:
    """Return the beginning of a value."""
    return text if len(text) <= TEXT_SHOWN else f"{text[:TEXT_SHOWN]}…"


def shortened_list(problems: Sequence[str]) -> list[str]:
    """Return as many of the *problems* as people read, and how many more there are."""
    left_out = len(problems) - PROBLEMS_SHOWN
    return [*problems[:PROBLEMS_SHOWN], *([f"… and {left_out} more"] if left_out > 0 else [])]
