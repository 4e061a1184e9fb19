"""The last lines of the log of a crawl that the panel started."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlers.web.starting import crawl_folder

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 64_000
MAX_LINES = 200


class LogEnd(NamedTuple):
    """The end of a log."""

    path: str  # below the folder of the panel
    lines: list[str]
    is_cut: bool  # it has more lines


def end_of_log(folder: Path, name: str) -> LogEnd | None:
    """Return the end of the latest log of the crawl *name*; None: it was not started here.

    Only files in the crawl's own folder below *folder* are read, and no links to files elsewhere.
    """
    own = crawl_folder(folder, name)
    if own is None or not own.is_dir():
        return None
    logs = sorted(path for path in own.glob("*.log") if path.is_file() and not path.is_symlink())
    if not logs or not logs[-1].resolve().is_relative_to(folder.resolve()):
        return None
    with logs[-1].open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - MAX_BYTES))
        lines = file.read(MAX_BYTES).decode("utf-8", "replace").splitlines()
    if size > MAX_BYTES:
        del lines[0]  # the rest of a line
    path = logs[-1].relative_to(folder).as_posix()
    return LogEnd(path, lines[-MAX_LINES:], size > MAX_BYTES or len(lines) > MAX_LINES)
