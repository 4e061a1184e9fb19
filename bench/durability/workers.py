"""Disturbs the workers of one crawl again and again, and compares the result with that of one undisturbed process.

    python -m bench.durability.workers [--workers 4] [--faults 20] [--every 3] [--mode kill] [--away 10]
                                       [--store sqlite] [--hosts hosts.txt] [--access-log access.log]
                                       [--spider sitegraph] [--budget 0] [--scale 2] [--delay 0] [--deadline 5]
                                       [--seed 1]

| mode | fault |
|---|---|
| kill | one worker is killed with SIGKILL, and another one is started |
| freeze | one worker is stopped until it is declared lost, then it goes on |
| cut | between one worker and the server nothing arrives for *away* seconds, and nobody is told |
| break | the connections of one worker are reset, and new ones are refused for *away* seconds |
| terminate | the server terminates all connections |
| restart | the server is killed with SIGKILL, and started again |
| gone | the server is stopped, and started again after *away* seconds |

All but the first one need `--store postgresql`. The crawl goes on, for the table, when another page of a site is stored
that a disturbed worker held, counted from the beginning of the fault.

Without `--hosts`, the built-in web is crawled, with *delay* milliseconds between two requests to a host; it sees the
requests, and the shortest time between two of a host. For other sites, `--access-log` names the log of an nginx in
front of them, whose format is `$msec $server_name … "$http_user_agent"`. Times of arrival vary on a busy machine:
compare the shortest one with that of the undisturbed crawl, and take delays of 200 and more.

There are at least *every* seconds between two faults, give or take half, and they are spread over the crawl: the nth of
twenty comes when n/21 of the URLs have ended that ended in the undisturbed crawl. A crawl that ends before all faults
is followed by another one. With a budget, graphs differ by right, and only the
pulls are counted: there must be as many, each of another page. Exit status 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple, Protocol
from unittest.mock import patch

import psycopg

from crawlers.inputs.program import CRAWL
from tests.support.crawl_web import ALL, WatchedWeb
from tests.support.network import Network
from tests.support.running import Crawl, differences
from tests.support.services import (
    fresh_database,
    restart_postgresql,
    running_postgresql,
    start_postgresql,
    stop_postgresql,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.support.processes import Run

SETTINGS: dict[str, object] = {"LINK_TAGS": "a,area,frame,iframe,meta", "RETRY_BACKOFF_SECONDS": 0.01}
WITHOUT_SERVER = ("kill",)
LOOK_S = 0.1
PATIENCE_S = 4 * 3600.0
SHOWN = 10
PULLS = "SELECT count(*), (SELECT sum(used) FROM worker) FROM pull"
# A page that redirects to another form of its own URL, such as /a to /a/, is downloaded once more.
PULLED_TWICE = """
    SELECT page.url, count(*) FROM pull JOIN page ON page.id = pull.page_id
    GROUP BY page.id, page.url, page.hops HAVING count(*) > 1 + page.hops"""


class Requests(NamedTuple):
    """What the web saw of a crawl."""

    number: int
    least_gap_s: float  # between two to a host

    def __str__(self) -> str:
        return f"{self.number} requests, least gap {1000 * self.least_gap_s:.0f} ms"


class Web(Protocol):
    """The sites of the crawls."""

    lines: list[str]  # of hosts.txt

    def begin(self) -> Mapping[str, object]:
        """Begin to count; return settings of the crawl of which the requests are counted."""

    def seen(self) -> Requests | None:
        """Return the requests since then, if they are counted."""


class BuiltIn:
    """The web of the tests."""

    def __init__(self, scale: int, delay_ms: int, stack: ExitStack) -> None:
        self._web = stack.enter_context(WatchedWeb(ALL, scale, self._note))
        self.lines = [f"{line.removesuffix('0')}{delay_ms}" for line in self._web.hosts()]
        self._times: dict[str, list[float]] = {}

    def _note(self, url: str) -> float:
        """Note a request; return the delay of its response, which is none."""
        self._times.setdefault(url.split("/", 3)[2], []).append(time.monotonic())
        return 0.0

    def begin(self) -> Mapping[str, object]:
        self._times = {}
        return {}

    def seen(self) -> Requests | None:
        return _requests(self._times)


class Listed:
    """The sites of a list; *log* is that of the server in front of them, in which our requests have their own agent."""

    def __init__(self, hosts: Path, log: Path | None) -> None:
        self.lines = hosts.read_text("utf-8").splitlines()
        self._log = log
        self._agent = ""
        self._begins_at = 0

    def begin(self) -> Mapping[str, object]:
        if self._log is None:
            return {}
        self._begins_at = self._log.stat().st_size
        self._agent = f"crawlers-bench-{time.time_ns()}"
        return {"USER_AGENT": self._agent}

    def seen(self) -> Requests | None:
        if self._log is None:
            return None
        times: dict[str, list[float]] = {}
        with self._log.open(encoding="utf-8", errors="replace") as log:
            log.seek(self._begins_at)
            for line in log:
                if line.rstrip().endswith(f'"{self._agent}"'):
                    moment, host, _ = line.split(" ", 2)
                    times.setdefault(host, []).append(float(moment))
        return _requests(times)


def _requests(times: Mapping[str, list[float]]) -> Requests:
    gaps = [later - earlier for one in times.values() for earlier, later in pairwise(one)]
    return Requests(sum(map(len, times.values())), min(gaps, default=float("inf")))


class Progress:
    """What is stored of *sites* from now on."""

    def __init__(self, crawl: Crawl, sites: list[int]) -> None:
        self._crawl = crawl
        self._sites = ", ".join(map(str, sites)) or "NULL"
        self._ended = self._pages("!= 0")
        self.has_gone_on = False  # or nothing waits

    def _pages(self, state: str) -> int:
        counted = f"SELECT count(*) FROM page WHERE site_id IN ({self._sites}) AND state {state}"
        rows = self._crawl.query(counted)
        return int(rows[0][0]) if rows else 0

    def look(self) -> bool:
        """Return whether further pages have ended."""
        waits, ended = self._pages("= 0") > 0, self._pages("!= 0")
        self.has_gone_on = ended > self._ended or not waits
        return ended > self._ended


class Disturbed:
    """A crawl of several workers that ends about *urls* URLs, with faults every few seconds until it has ended."""

    def __init__(
        self,
        crawl: Crawl,
        urls: int,
        options: argparse.Namespace,
        rng: random.Random,
        socket: Path | None,
        stack: ExitStack,
    ) -> None:
        self._crawl = crawl
        self._urls = urls
        self._options = options
        self._rng = rng
        self._socket = socket
        self._networks: list[Network] = []
        if options.mode in ("cut", "break"):
            assert crawl.server is not None
            self._networks = [stack.enter_context(Network(crawl.server)) for _ in range(options.workers)]
        self._workers = [self._start(place) for place in range(options.workers)]
        self.faults = 0
        self.went_on_s: list[float] = []  # seconds after the beginning of each fault

    def _start(self, place: int) -> Run:
        settings = {"DATABASE_URL": self._networks[place].url} if self._networks else {}
        return self._crawl.start(is_fresh=True, **settings)

    def run(self, most: int) -> list[Run]:
        """Disturb the crawl at most *most* times, and return its workers when they have ended."""
        of_one: dict[str, Callable[[int], None]] = {
            "kill": self._kill,
            "freeze": self._freeze,
            "cut": self._cut,
            "break": self._break,
        }
        of_server = {"terminate": self._terminate, "restart": self._restart, "gone": self._gone}
        while self.faults < most and self._wait(self._rng.uniform(0.5, 1.5) * self._options.every):
            while self._crawl.stored < self._urls * (self.faults + 1) / (most + 1) and self._wait(LOOK_S):
                pass
            at_work = self._at_work()
            if not at_work:
                continue
            if self._options.mode in of_one:
                of_one[self._options.mode](self._rng.choice(at_work))
            else:
                began, progress = time.monotonic(), Progress(self._crawl, self._open_sites())
                of_server[self._options.mode]()
                self._until_it_goes_on(began, progress)
            self.faults += 1
        for run in self._workers:
            run.wait(PATIENCE_S)
        return self._workers

    def _wait(self, seconds: float) -> bool:
        """Wait; return whether a worker is still at work."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and self._is_running:
            time.sleep(LOOK_S)
        return self._is_running

    @property
    def _is_running(self) -> bool:
        return any(run.is_running for run in self._workers)

    def _at_work(self) -> list[int]:
        """Return the places of the workers that hold sites."""
        held = "SELECT process FROM worker JOIN site ON site.worker_id = worker.id WHERE state = 'active'"
        processes = {process for (process,) in self._crawl.query(held)}
        return [place for place, run in enumerate(self._workers) if run.pid in processes and run.is_running]

    # What goes on -------------------------------------------------------------------------------------

    def _open_sites(self) -> list[int]:
        return [number for (number,) in self._crawl.query("SELECT id FROM site WHERE is_open")]

    def _held(self, run: Run) -> list[int]:
        worker = f"SELECT id FROM worker WHERE process = {run.pid} AND state = 'active'"
        return [number for (number,) in self._crawl.query(f"SELECT id FROM site WHERE worker_id IN ({worker})")]

    def _until_it_goes_on(self, began: float, progress: Progress, limit_s: float = float("inf")) -> None:
        """Wait until a page of disturbed sites is stored, or nothing of them waits; at most *limit_s* after *began*."""
        while not progress.has_gone_on and self._is_running and time.monotonic() - began < limit_s:
            if progress.look():
                self.went_on_s.append(time.monotonic() - began)
            time.sleep(LOOK_S)

    # Faults -------------------------------------------------------------------------------------------

    def _kill(self, place: int) -> None:
        run = self._workers[place]
        held = self._held(run)
        run.kill()
        run.wait()
        began, progress = time.monotonic(), Progress(self._crawl, held)
        ((crawl_id,),) = self._crawl.query("SELECT id FROM crawl")
        with patch.dict("os.environ", {CRAWL: str(crawl_id)}):  # if it ends meanwhile, the worker begins no other one
            self._workers[place] = self._start(place)
        self._until_it_goes_on(began, progress)

    def _freeze(self, place: int) -> None:
        run = self._workers[place]
        run.signal(signal.SIGSTOP)
        began, progress = time.monotonic(), Progress(self._crawl, self._held(run))
        self._until_it_goes_on(began, progress)
        run.signal(signal.SIGCONT)

    def _cut(self, place: int) -> None:
        self._mend_later(place, self._networks[place].cut)

    def _break(self, place: int) -> None:
        self._mend_later(place, self._networks[place].break_off)

    def _mend_later(self, place: int, cut: Callable[[], None]) -> None:
        held = self._held(self._workers[place])
        cut()
        began, progress = time.monotonic(), Progress(self._crawl, held)
        self._until_it_goes_on(began, progress, self._options.away)
        self._wait(began + self._options.away - time.monotonic())
        self._networks[place].mend()
        self._until_it_goes_on(began, progress)

    def _terminate(self) -> None:
        assert self._crawl.server is not None
        with psycopg.connect(self._crawl.server.replace("+psycopg", "")) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid != pg_backend_pid()"
            )

    def _restart(self) -> None:
        assert self._socket is not None
        restart_postgresql(self._socket)

    def _gone(self) -> None:
        assert self._socket is not None
        stop_postgresql(self._socket, signal.SIGINT)  # it ends connections, and waits for no client
        time.sleep(self._options.away)
        start_postgresql(self._socket)


def compare(whole: Crawl, shared: Crawl, runs: list[Run], budget: int) -> list[str]:
    """Return what is wrong with the result of several workers."""
    # A worker that was started while another one wrote the outputs says that it came too late.
    failed = [run for run in runs if run.wait().status and " is ending: " not in run.log]
    problems = [f"exit status {run.wait().status}: {run.log[-500:]}" for run in failed]
    if budget:
        ((pulls, used),) = shared.query(PULLS)
        if (pulls, used) != (budget, budget):
            problems.append(f"{pulls} pulls of {budget}, {used} counted by workers")
        problems += [f"{count} pulls of {url}" for url, count in shared.query(PULLED_TWICE)]
        return problems
    if shared.states != ["finished"]:
        problems.append(f"crawls: {shared.states}")
    problems += differences(whole.tables(), shared.tables())
    left, right = whole.files(), shared.files()
    return problems + [f"file {name}" for name in sorted({*left, *right}) if left.get(name) != right.get(name)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--faults", type=int, default=20)
    parser.add_argument("--every", type=float, default=3.0, help="seconds between two faults, at least")
    modes = (*WITHOUT_SERVER, "cut", "break", "terminate", "restart", "gone")
    parser.add_argument("--mode", choices=modes, default="kill")
    parser.add_argument("--away", type=float, default=10.0, help="seconds")
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--hosts", type=Path, help="a file of sites; else the built-in web is crawled")
    parser.add_argument("--access-log", type=Path, help="of an nginx in front of these sites")
    parser.add_argument("--spider", choices=("sitegraph", "extlinks"), default="sitegraph")
    parser.add_argument("--budget", type=int, default=0, help="PAGE_BUDGET")
    parser.add_argument("--scale", type=int, default=2, help="size of the built-in web")
    parser.add_argument("--delay", type=int, default=0, help="milliseconds between two requests to a host")
    parser.add_argument("--deadline", type=float, default=5.0, help="WORKER_DEADLINE_SECONDS")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.mode not in WITHOUT_SERVER and options.store == "sqlite":
        parser.error(f"--mode {options.mode} needs --store postgresql")
    with ExitStack() as stack:
        sys.exit(int(_disturb(options, stack)))


def _disturb(options: argparse.Namespace, stack: ExitStack) -> bool:
    """Return whether anything differs."""
    settings = {**SETTINGS, "PAGE_BUDGET": options.budget, "WORKER_DEADLINE_SECONDS": options.deadline}
    rng = random.Random(options.seed)
    if options.hosts:
        web: Web = Listed(options.hosts, options.access_log)
    else:
        web = BuiltIn(options.scale, options.delay, stack)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="workers-")))
    whole = stack.enter_context(Crawl(folder / "whole", web.lines, options.spider, **settings, **web.begin()))
    began = time.monotonic()
    ended = whole.start(is_fresh=True).wait(PATIENCE_S)
    if ended.status:
        raise SystemExit(f"the undisturbed crawl ended with status {ended.status}:\n{ended.log}")
    once = web.seen()
    print(f"undisturbed: {whole.stored} URLs ended, {once or 'requests uncounted'}, {time.monotonic() - began:.0f} s")
    print(f"{'crawl':>5} {options.mode:>9} {'workers':>8} {'requests again':>15} {'differences':>12} ", end="")
    print(f"{'goes on after s (median, most)':>31} {'least gap ms':>13} {'seconds':>8}", flush=True)
    socket = stack.enter_context(running_postgresql()) if options.store == "postgresql" else None
    faults, number, different, pauses_s = 0, 0, 0, list[float]()
    while faults < options.faults:
        number += 1
        store = {"DATABASE_URL": stack.enter_context(fresh_database(socket))} if socket is not None else {}
        crawl = Crawl(folder / f"shared{number}", web.lines, options.spider, **settings, **store, **web.begin())
        shared = stack.enter_context(crawl)
        began = time.monotonic()
        disturbed = Disturbed(shared, whole.stored, options, rng, socket, stack)
        problems = compare(whole, shared, disturbed.run(options.faults - faults), options.budget)
        faults += disturbed.faults
        went_on, seen = disturbed.went_on_s, web.seen()
        pauses = f"{median(went_on):.1f}, {max(went_on):.1f}" if went_on else "-"
        again = seen.number - once.number if seen is not None and once is not None else "-"
        gap = f"{1000 * seen.least_gap_s:.0f}" if seen is not None else "-"
        workers = shared.query("SELECT count(*) FROM worker")[0][0]
        print(
            f"{number:>5} {disturbed.faults:>9} {workers:>8} {again:>15} {len(problems):>12} {pauses:>31} "
            f"{gap:>13} {time.monotonic() - began:>8.0f}",
            flush=True,
        )
        for problem in problems[:SHOWN]:
            print("     ", problem)
        different += len(problems)
        pauses_s += went_on
    goes_on_s = round(median(pauses_s), 2) if pauses_s else None
    print(json.dumps({"mode": options.mode, "faults": faults, "differences": different, "goes_on_s": goes_on_s}))
    return different > 0


if __name__ == "__main__":
    main()
