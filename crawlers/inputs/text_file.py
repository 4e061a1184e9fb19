"""Files that people write, as texts."""

from __future__ import annotations

from pathlib import Path

from crawlers.errors import ConfigError


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
