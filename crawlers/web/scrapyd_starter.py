"""Starts crawls by scrapyd, on another machine or in its containers (SCRAPYD_URL).

References
----------
.. [1] scrapyd, API, schedule.json: https://scrapyd.readthedocs.io/en/latest/api.html
"""

from __future__ import annotations

import io
import json
import time
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

import pycurl

from crawlers.errors import ConfigError
from crawlers.storage.worker_queries import begun_since, time_of_server
from crawlers.web.starting import Begun, Pending

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlers.inputs.crawl_command import CrawlCommand
    from crawlers.storage.database import Database
    from crawlers.web.starting import Ending, Outcome

PROJECT = "crawlers"  # as in scrapy.cfg
CONNECT_S, TIMEOUT_S = 5, 15
PATIENCE_S = 15.0  # for the beginning of the crawl; scrapyd looks for jobs every five seconds
LOOK_EVERY_S = 0.25
MAX_SITES_BYTES = 100_000  # Linux takes no longer word in a command line than 128 KiB
MAX_RESPONSE_BYTES = 1_000_000


class ScrapydStarter:
    """Schedules jobs of the scrapyd at *url*, whose settings name the same store. Raises `ConfigError`."""

    def __init__(self, database: Database, url: str, patience_s: float = PATIENCE_S) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError("SCRAPYD_URL is not the address of a scrapyd; write for example http://127.0.0.1:6800")
        self._database = database
        self._url = url.rstrip("/")
        self._shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
        self._patience_s = patience_s

    def start(self, name: str, command: CrawlCommand, files: Mapping[str, bytes]) -> Outcome:
        """Schedule a job; sites are part of it, because the files of this machine are not on that of scrapyd."""
        arguments = {**command.arguments, **{argument: _inline(argument, text) for argument, text in files.items()}}
        settings = [f"{setting}={value}" for setting, value in {**command.settings, "CRAWL": name}.items()]
        fields = [("project", PROJECT), ("spider", command.spider), *arguments.items()]
        since = time_of_server(self._database)
        job = self._post("schedule.json", [*fields, *(("setting", one) for one in settings)])["jobid"]
        deadline = time.monotonic() + self._patience_s
        while time.monotonic() < deadline:
            if (crawl_id := begun_since(self._database, name, since)) is not None:
                return Begun(crawl_id)
            time.sleep(LOOK_EVERY_S)
        log = f"{self._shown}/logs/{PROJECT}/{command.spider}/{job}.log"
        return Pending(f"scrapyd has the job {job}, and the crawl {name} has not begun yet; its log is {log}.")

    def endings(self) -> list[Ending]:
        """Return nothing: scrapyd lists its jobs itself."""
        return []

    def _post(self, path: str, fields: list[tuple[str, str]]) -> dict[str, str]:
        body = io.BytesIO()
        curl = pycurl.Curl()
        try:
            curl.setopt(pycurl.URL, f"{self._url}/{path}")
            curl.setopt(pycurl.POSTFIELDS, urlencode(fields))
            curl.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
            curl.setopt(pycurl.CONNECTTIMEOUT, CONNECT_S)
            curl.setopt(pycurl.TIMEOUT, TIMEOUT_S)
            curl.setopt(pycurl.NOSIGNAL, 1)  # this is a thread
            curl.setopt(pycurl.MAXFILESIZE, MAX_RESPONSE_BYTES)
            curl.setopt(pycurl.WRITEDATA, body)
            curl.perform()
        except pycurl.error as error:
            raise ConfigError(f"scrapyd at {self._shown} can't be reached: {error.args[1]}; is it running?") from error
        finally:
            curl.close()
        try:
            response = json.loads(body.getvalue())
        except ValueError:
            response = None
        if not isinstance(response, dict) or response.get("status") != "ok":
            said = response.get("message") if isinstance(response, dict) else None
            raise ConfigError(f"scrapyd at {self._shown} refuses the job: {said or 'its response is not JSON'}")
        return response


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
