"""The last lines of the log of a crawl that the panel started."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlers.web.job_record import JobRecord
from crawlers.web.starting import RECORD, crawl_folder

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 64_000
MAX_LINES = 200


class LogEnd(NamedTuple):
    """The end of a log."""

    path: str  # below the folder of the panel
    lines: list[str]
    is_cut: bool  # it has more lines


def end_of_log(folder: Path, crawl_id: int) -> LogEnd | None:
    """Return the end of the log of the latest process of a crawl; None: it was not started here, or not as a process.

    Only files in the crawl's own folder below *folder* are read, and no links to files elsewhere.
    """
    job = next((one for one in JobRecord(folder / RECORD).jobs() if one.crawl_id == crawl_id), None)
    own = None if job is None else crawl_folder(folder, job.crawl)
    if job is None or own is None:
        return None
    log = folder / job.job
    if log.parent != own or log.suffix != ".log" or not log.is_file() or log.is_symlink():
        return None
    if not log.resolve().is_relative_to(folder.resolve()):
        return None
    with log.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - MAX_BYTES))
        lines = file.read(MAX_BYTES).decode("utf-8", "replace").splitlines()
    if size > MAX_BYTES:
        del lines[:1]  # the rest of a line; nothing if it was emptied meanwhile
    return LogEnd(job.job, lines[-MAX_LINES:], size > MAX_BYTES or len(lines) > MAX_LINES)
