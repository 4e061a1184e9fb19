"""What the panel has started, and how it ended: kept in a file, so that the next panel knows it, too."""

from __future__ import annotations

import json
import logging
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlers.storage.worker_queries import crawl_begun_since

if TYPE_CHECKING:
    from pathlib import Path

    from crawlers.storage.database import Database

logger = logging.getLogger(__name__)

MAX_BYTES = 1_000_000  # of the end of the file: some thousand jobs
MAX_NUMBER = 2**36  # of seconds since 1970, which a calendar has, and of crawls


class Job(NamedTuple):
    """A process, or a job of scrapyd, and its end if that is known; times are seconds since 1970."""

    crawl: str  # its name
    job: str  # path of its log, or number at scrapyd
    ended_at: float | None = None
    status: int | None = None  # of its exit; negative: the signal that ended it; None: not known
    why: str = ""  # it failed, in its own words
    since: float | None = None  # by the clock of the store, from which on its crawl may have begun
    crawl_id: int | None = None  # the number of its crawl; None: that has not begun, as far as is known


class JobRecord:
    """The jobs of a panel, in a file that is only appended to. Methods may be called in any thread.

    A file that can't be read counts as empty; what becomes of a known job is left out, with a warning, if it can't be
    written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def add(self, job: Job) -> None:
        """Record *job*, or what is known of it now. Raises `OSError` if the file can't be written."""
        with self._lock:
            self._write(job)

    def change(self, job: str, **values: Any) -> None:
        """Record *values* of a *job* that is known by its `Job.job`: its crawl, or its end."""
        with self._lock:
            known = next((one for one in self._read() if one.job == job), None)
            if known is None:
                return
            try:
                self._write(known._replace(**values))
            except OSError as error:
                logger.warning("%s can't be written: %s; what became of %s is lost", self._path, error.strerror, job)

    def find_crawls(self, database: Database) -> None:
        """Record the crawls of jobs that needed long to begin them. Raises `StoreError`."""
        for job in self.latest():
            if job.crawl_id is None and job.ended_at is None and job.since is not None:
                crawl_id = crawl_begun_since(database, job.crawl, job.since)
                if crawl_id is not None:
                    self.change(job.job, crawl_id=crawl_id)

    def latest(self) -> list[Job]:
        """Return the last job of each name of a crawl, the latest first."""
        jobs: dict[str, Job] = {}
        for job in self.jobs():
            jobs.setdefault(job.crawl, job)
        return list(jobs.values())

    def jobs(self) -> list[Job]:
        """Return all jobs, the latest first; lines that are damaged are left out."""
        with self._lock:
            return self._read()

    def _write(self, job: Job) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(job._asdict()).encode() + b"\n"
        with self._path.open("a+b") as file:
            if file.tell():
                file.seek(-1, 2)
                line = line if file.read() == b"\n" else b"\n" + line  # a kill, or a full disk, has cut the last one
            file.write(line)

    def _read(self) -> list[Job]:
        try:
            with self._path.open("rb") as file:
                file.seek(max(0, file.seek(0, 2) - MAX_BYTES))
                lines = file.read().splitlines()
        except OSError:
            return []
        jobs: dict[str, Job] = {}
        for line in lines:
            try:
                job = Job(**json.loads(line))
            except (ValueError, TypeError):
                continue
            if not _is_sound(job):
                continue
            jobs.pop(job.job, None)
            jobs[job.job] = job
        return list(jobs.values())[::-1]


def _is_sound(job: Job) -> bool:
    """Return whether the values of *job*, as they were read from a file, are of their types."""
    numbers = (job.ended_at, job.status, job.since, job.crawl_id)
    return all(isinstance(text, str) for text in (job.crawl, job.job, job.why)) and all(
        number is None or (isinstance(number, (int, float)) and abs(number) < MAX_NUMBER) for number in numbers
    )
