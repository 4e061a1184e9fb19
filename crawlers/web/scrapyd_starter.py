"""Starts crawls by scrapyd, on another machine or in its containers (SCRAPYD_URL).

References
----------
.. [1] scrapyd, API, schedule.json: https://scrapyd.readthedocs.io/en/latest/api.html
"""

from __future__ import annotations

import io
import json
import logging
import re
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import pycurl

from crawlers.errors import ConfigError
from crawlers.reports.catalogue.report import TimeLimit
from crawlers.web.starting import MAX_SAID_BYTES, RECORD, Job, JobRecord, said_in
from crawlers.workers.worker_table import crawl_begun_since, time_of_server

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from crawlers.inputs.program import CrawlCommand
    from crawlers.store.database import Database

logger = logging.getLogger(__name__)

PROJECT = "crawlers"  # as in scrapy.cfg
CONNECT_S, TIMEOUT_S = 5, 15
PATIENCE_S = 15.0  # for the beginning of the crawl; scrapyd looks for jobs every five seconds
LOOK_EVERY_S = 0.25
MAX_SITES_BYTES = 100_000  # Linux takes no longer word in a command line than 128 KiB
MAX_RESPONSE_BYTES = 10_000_000
CLOSED = "Spider closed ("  # Scrapy's last words
_ERROR_LINE = re.compile(r"^\S+ \S+ \[[^\]]+\] (?:ERROR|CRITICAL): (.*)$", re.MULTILINE)


class ScrapydStarter:
    """Schedules jobs of the scrapyd at *url*, whose settings name the same store, and records them in *folder*.

    Raises `ConfigError` if that is no address.
    """

    def __init__(self, database: Database, url: str, folder: Path, timeout_s: float = PATIENCE_S) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError("SCRAPYD_URL is not the address of a scrapyd; write for example http://127.0.0.1:6800")
        self._database = database
        self._url = url.rstrip("/")
        self._shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
        self._timeout_s = timeout_s
        self._record = JobRecord(folder / RECORD)

    def start(self, name: str, command: CrawlCommand, files: Mapping[str, bytes]) -> int | str:
        """Schedule a job; sites are part of it, because the files of this machine are not on that of scrapyd."""
        arguments = {**command.arguments, **{argument: _inline(argument, text) for argument, text in files.items()}}
        settings = [f"{setting}={value}" for setting, value in {**command.settings, "CRAWL": name}.items()]
        fields = [("project", PROJECT), ("spider", command.spider), *arguments.items()]
        since = time_of_server(self._database)
        form = urlencode([*fields, *(("setting", one) for one in settings)])
        number = self._json("schedule.json", form=form).get("jobid")
        if not isinstance(number, str):
            raise ConfigError(f"scrapyd at {self._shown} names no job; is there another program at that address?")
        job = Job(name, f"{command.spider}/{number}", since=since)
        try:
            self._record.add(job)
        except OSError as error:
            logger.warning("The job %s of the crawl %s is not recorded: %s", job.job, name, error)
        is_over = TimeLimit(self._timeout_s)
        while not is_over():
            if (crawl_id := crawl_begun_since(self._database, name, since)) is not None:
                self._record.change(job.job, crawl_id=crawl_id)
                return crawl_id
            time.sleep(LOOK_EVERY_S)
        return (
            f"scrapyd has the job {job.job.rpartition('/')[2]}, and the crawl {name} has not begun yet; its log is "
            f"{self._shown}/{self._log(job)}."
        )

    def endings(self) -> list[Job]:
        """Return the ends of the latest jobs that were scheduled here, as scrapyd lists them; none if it is away.

        scrapyd does not tell whether a job has failed. Its log does: Scrapy says at its end that the spider was closed,
        and what is wrong with a crawl that could not begin is logged after that.
        """
        self._record.find_crawls(self._database)
        jobs = self._record.latest()
        if any(job.ended_at is None for job in jobs):
            ended = self._finished()
            for job in jobs:
                number = job.job.rpartition("/")[2]
                if job.ended_at is None and number in ended:
                    status, why = self._end(job)
                    self._record.change(job.job, ended_at=_seconds(ended[number]), status=status, why=why)
            jobs = self._record.latest()
        return [job for job in jobs if job.ended_at is not None]

    def _finished(self) -> dict[str, str]:
        """Return when the jobs that have ended did so, as scrapyd says it, by number."""
        try:
            listed = self._json("listjobs.json", f"?{urlencode({'project': PROJECT})}").get("finished")
        except ConfigError as error:
            logger.warning("%s", error)
            return {}
        known = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        return {str(one.get("id")): str(one.get("end_time")) for one in known}

    def _end(self, job: Job) -> tuple[int | None, str]:
        """Return the status of a job that has ended, and why it failed."""
        try:
            log = self._response(self._log(job), is_log=True).decode("utf-8", "replace")
        except ConfigError as error:
            return None, str(error)
        _, closed, rest = log.rpartition(CLOSED)
        errors = [said_in(log), *_ERROR_LINE.findall(rest)]
        if closed and not any(errors):
            return 0, ""
        return None, "\n".join(filter(None, errors)) or log.strip().rpartition("\n")[2]

    def _log(self, job: Job) -> str:
        return f"logs/{PROJECT}/{job.job}.log"

    def _json(self, path: str, query: str = "", form: str | None = None) -> dict[str, Any]:
        try:
            response = json.loads(self._response(path, query, form))
        except (ValueError, RecursionError):
            response = None
        if not isinstance(response, dict) or response.get("status") != "ok":
            said = response.get("message") if isinstance(response, dict) else None
            raise ConfigError(f"scrapyd at {self._shown} refuses the job: {said or 'its response is not JSON'}")
        return response

    def _response(self, path: str, query: str = "", form: str | None = None, *, is_log: bool = False) -> bytes:
        """Return the response of scrapyd, by POST if there is a *form*; of a log its end. Raises `ConfigError`."""
        body = io.BytesIO()
        curl = pycurl.Curl()
        try:
            curl.setopt(pycurl.URL, f"{self._url}/{path}{query}")
            if form is not None:
                curl.setopt(pycurl.POSTFIELDS, form)
            curl.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
            curl.setopt(pycurl.CONNECTTIMEOUT, CONNECT_S)
            curl.setopt(pycurl.TIMEOUT, TIMEOUT_S)
            curl.setopt(pycurl.NOSIGNAL, 1)  # this is a thread
            curl.setopt(pycurl.MAXFILESIZE, MAX_RESPONSE_BYTES)
            curl.setopt(pycurl.WRITEDATA, body)
            if is_log:
                curl.setopt(pycurl.FAILONERROR, 1)
                curl.setopt(pycurl.NOBODY, 1)
                curl.perform()
                size = int(curl.getinfo(pycurl.CONTENT_LENGTH_DOWNLOAD_T))
                curl.setopt(pycurl.NOBODY, 0)
                # From its beginning: scrapyd does not understand the range of more last bytes than there are.
                curl.setopt(pycurl.RANGE, f"{max(0, size - MAX_SAID_BYTES)}-")
            curl.perform()
        except pycurl.error as error:
            raise ConfigError(f"scrapyd at {self._shown} can't be reached: {error.args[1]}; is it running?") from error
        finally:
            curl.close()
        return body.getvalue()


def _seconds(at: str) -> float:
    """Return a time by the clock of scrapyd's machine, which says no time zone; now, if it is none."""
    try:
        return datetime.fromisoformat(at).timestamp()
    except (ValueError, OverflowError):
        return time.time()


def _inline(argument: str, content: bytes) -> str:
    """Return a file of sites as one argument."""
    if argument != "hosts":
        raise ConfigError(
            f"a {argument} file can't be sent to scrapyd; copy it there, and schedule the job with its path"
        )
    lines = (line.partition("#")[0].strip() for line in content.decode("utf-8").splitlines())
    sites = ",".join(line for line in lines if line)
    if len(sites.encode()) > MAX_SITES_BYTES:
        raise ConfigError(f"scrapyd takes at most {MAX_SITES_BYTES:,} bytes of sites; import them, and crawl the list")
    return sites
