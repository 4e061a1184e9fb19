"""Starts crawls: as processes of this machine, or by scrapyd; and records what was started. The panel runs none itself.

The command checks everything before it begins, so nothing is checked twice here: a process that ends before its crawl
is in the store has said why, in the terms of the command line. What was started, and how it ended, is kept in a file,
so that the next panel knows it, too. With SCRAPYD_URL, scrapyd [1]_ starts crawls on another machine or in its
containers.

References
----------
.. [1] scrapyd, API, schedule.json: https://scrapyd.readthedocs.io/en/latest/api.html
"""

from __future__ import annotations

import io
import json
import logging
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import urlencode, urlsplit

import pycurl

from crawlers.errors import ConfigError
from crawlers.files.atomic import replacing
from crawlers.inputs.program import suggested
from crawlers.pages.pool import environment
from crawlers.reports.catalogue.report import TimeLimit
from crawlers.workers.worker_table import crawl_begun_since, time_of_server

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from crawlers.inputs.program import CrawlCommand
    from crawlers.store.database import Database

logger = logging.getLogger(__name__)

MAX_BYTES = 1_000_000  # of the end of the file: some thousand jobs


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
        self._lock = threading.RLock()

    def add(self, job: Job) -> None:
        """Record *job*, or what is known of it now. Raises `OSError` if the file can't be written."""
        line = json.dumps(job._asdict()).encode() + b"\n"
        with self._lock:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a+b") as file:
                if file.tell():  # a kill, or a full disk, may have cut the last line
                    file.seek(-1, 2)
                    line = line if file.read() == b"\n" else b"\n" + line
                file.write(line)

    def change(self, job: str, **values: Any) -> None:
        """Record *values* of a *job* that is known by its `Job.job`: its crawl, or its end."""
        with self._lock:
            known = next((one for one in self.jobs() if one.job == job), None)
            if known is None:
                return
            try:
                self.add(known._replace(**values))
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
            content = _tail(self._path, MAX_BYTES)
        jobs: dict[str, Job] = {}
        for line in content.splitlines():
            try:
                job = Job(**json.loads(line))
            except (ValueError, TypeError):
                continue
            jobs.pop(job.job, None)
            jobs[job.job] = job
        return list(jobs.values())[::-1]


FOLDER = Path("logs/panel")  # below it each crawl has a folder of its own, for its input and its logs
RECORD = FOLDER / "jobs.jsonl"
PROGRAM = (sys.executable, "-m", "scrapy")
NAME = re.compile(r"[^\W_][\w .+-]{0,79}")  # of a crawl that is started here: it names a folder
PATIENCE_S = 30.0  # until a crawl begins or says why it can't; then it is left to itself
LOOK_EVERY_S = 0.1
CLOSING_S = 10.0  # for a process to end
MAX_SAID_BYTES = 20_000
MAX_LOG_BYTES = 64_000  # of the end that is shown
MAX_LINES = 200
_ERROR = re.compile(r"^Error: ", re.MULTILINE)


class Starter(Protocol):
    """Runs commands somewhere."""

    def start(self, name: str, command: CrawlCommand, files: Mapping[str, bytes]) -> int | str:
        """Start the crawl *name*, and return its number; or, if it has not begun after a while, where its log is.

        *files* are the arguments of *command* that are files, with their content. Raises `ConfigError` if it can't
        begin: one sentence a line.
        """

    def endings(self) -> list[Job]:
        """Return the latest process of each crawl that a panel started here and that has ended, the latest first."""


def crawl_folder(folder: Path, name: str) -> Path | None:
    """Return where the files of the crawl *name* are that were started here, below *folder*; None: there are none."""
    return folder / FOLDER / name if NAME.fullmatch(name) and name != RECORD.name else None


class LocalStarter:
    """Starts processes of this machine in *folder*; they live on when the panel ends.

    *passed_on* are the options of the panel itself that its crawls need as well, such as that of the store.
    """

    def __init__(
        self,
        database: Database,
        folder: Path,
        passed_on: Sequence[str] = (),
        program: Sequence[str] = PROGRAM,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._folder = folder
        self._passed_on = passed_on
        self._program = program
        self._clock = clock
        self._lock = threading.Lock()
        self._starts: dict[str, tuple[CrawlCommand, Mapping[str, bytes], Future[int | str]]] = {}  # by name, as yet
        self._ends: dict[str, threading.Event] = {}  # of the latest process of each crawl: it is set at its end
        self._record = JobRecord(folder / RECORD)

    def start(self, name: str, command: CrawlCommand, files: Mapping[str, bytes]) -> int | str:
        """Start a process, whose output goes to a log of its own; see `Starter`.

        Whoever starts the same again meanwhile, as a double click does, gets the same outcome.
        """
        own: Future[int | str] = Future()
        with self._lock:
            *known, outcome = self._starts.setdefault(name, (command, files, own))
        if outcome is not own:
            if known != [command, files]:
                raise ConfigError(f"the crawl {name} is being started; stop it first, or choose another name")
            return outcome.result()
        try:
            own.set_result(self._start(name, command, files))
        except BaseException as error:
            own.set_exception(error)
        with self._lock:
            del self._starts[name]
        return own.result()

    def _start(self, name: str, command: CrawlCommand, files: Mapping[str, bytes]) -> int | str:
        own = crawl_folder(self._folder, name)
        if own is None:
            raise ConfigError(f"CRAWL={name} can't name a folder; begin with a letter or a digit, then . + - _ as well")
        since = time_of_server(self._database)
        # A crawl has ended in the store a little before its process has.
        if name in self._ends and not self._ends[name].wait(CLOSING_S):
            raise ConfigError(f"the crawl {name} is running; stop it first, or choose another name")
        log = own / time.strftime("%Y-%m-%dT%H-%M-%SZ.log", time.gmtime(self._clock()))
        end = self._run(name, log, command, files, since)
        is_over = TimeLimit(PATIENCE_S)
        while not is_over():
            has_ended = end.wait(LOOK_EVERY_S)
            if (crawl_id := crawl_begun_since(self._database, name, since)) is not None:
                self._record.change(self._path(log), crawl_id=crawl_id)
                return crawl_id
            if has_ended:
                said = _end_of(log)
                raise ConfigError(said_in(said) or said.strip() or "The command has ended without a word.")
        return f"The crawl {name} has not begun yet; its log is {log.relative_to(self._folder)}."

    def endings(self) -> list[Job]:
        """Return the ends of the latest processes that were started here, also by an earlier panel.

        Nobody has seen the end of a process that outlived its panel. If its crawl has begun, the store tells what
        became of it; else its log does.
        """
        self._record.find_crawls(self._database)
        running = {name for name, end in list(self._ends.items()) if not end.is_set()}
        jobs = (self._as_logged(job) for job in self._record.latest() if job.crawl not in running)
        return [job for job in jobs if job.ended_at is not None]

    def _as_logged(self, job: Job) -> Job:
        log = self._folder / job.job
        if job.ended_at is None and (why := said_in(_end_of(log))):
            return job._replace(ended_at=_changed_at(log), why=why)
        return job

    def _run(
        self, name: str, log: Path, command: CrawlCommand, files: Mapping[str, bytes], since: float
    ) -> threading.Event:
        """Run a process with that *log*, and return what is set at its end."""
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            for argument, content in files.items():
                with replacing(self._folder / command.arguments[argument]) as file:
                    file.write(content)
            with log.open("ab") as output:
                self._record.add(Job(name, self._path(log), since=since))  # first: a process is never unknown
                process = subprocess.Popen(  # noqa: S603 - a list of words, without a shell
                    [*self._program, *command.words(), "-s", f"CRAWL={name}", *self._passed_on],
                    cwd=self._folder,
                    env=environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # Ctrl-C ends the panel only
                )
        except OSError as error:
            why = f"{error.filename or log.parent} can't be used: {error.strerror}; check its folder"
            self._record.change(self._path(log), ended_at=self._clock(), why=why)  # if it was recorded before it failed
            raise ConfigError(why) from error
        end = self._ends[name] = threading.Event()
        threading.Thread(target=self._watch, args=(name, process, log, end), daemon=True).start()
        return end

    def _path(self, log: Path) -> str:
        return log.relative_to(self._folder).as_posix()

    def _watch(self, name: str, process: subprocess.Popen[bytes], log: Path, end: threading.Event) -> None:
        status = process.wait()
        why = said_in(_end_of(log)) if status else ""
        self._record.change(self._path(log), ended_at=self._clock(), status=status, why=why)
        end.set()
        logger.info("The process of the crawl %s has ended with status %d; its log is %s", name, status, log)


def _end_of(log: Path) -> str:
    """Return the last text of *log*."""
    return _tail(log, MAX_SAID_BYTES).decode("utf-8", "replace")


def _tail(path: Path, most: int) -> bytes:
    """Return the last bytes of a file, at most *most*; none if it can't be read, as after it was deleted."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - most))
            return file.read(most)
    except OSError:
        return b""


def _changed_at(log: Path) -> float:
    try:
        return log.stat().st_mtime
    except OSError:
        return 0.0


def said_in(log: str) -> str:
    """Return what a command has said in *log* about why it could not go on; "" if it has said nothing."""
    parts = _ERROR.split(log)
    return suggested(parts[-1].strip()) if len(parts) > 1 else ""


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
    content = _tail(log, MAX_LOG_BYTES + 1)
    is_cut = len(content) > MAX_LOG_BYTES
    lines = content.decode("utf-8", "replace").splitlines()[is_cut:]  # without the rest of a line
    return LogEnd(job.job, lines[-MAX_LINES:], is_cut or len(lines) > MAX_LINES)


PROJECT = "crawlers"  # as in scrapy.cfg
CONNECT_S, TIMEOUT_S = 5, 15
SCRAPYD_PATIENCE_S = 15.0  # for the beginning of the crawl; scrapyd looks for jobs every five seconds
SCRAPYD_LOOK_EVERY_S = 0.25
MAX_SITES_BYTES = 100_000  # Linux takes no longer word in a command line than 128 KiB
MAX_RESPONSE_BYTES = 10_000_000
CLOSED = "Spider closed ("  # Scrapy's last words
_ERROR_LINE = re.compile(r"^\S+ \S+ \[[^\]]+\] (?:ERROR|CRITICAL): (.*)$", re.MULTILINE)


class ScrapydStarter:
    """Schedules jobs of the scrapyd at *url*, whose settings name the same store, and records them in *folder*.

    Raises `ConfigError` if that is no address.
    """

    def __init__(self, database: Database, url: str, folder: Path, timeout_s: float = SCRAPYD_PATIENCE_S) -> None:
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
            time.sleep(SCRAPYD_LOOK_EVERY_S)
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
