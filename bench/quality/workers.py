"""Disturbs the workers of one crawl again and again, and compares the result with that of one undisturbed process.

    python -m bench.quality.workers [--workers 4] [--faults 20] [--every 3] [--mode kill] [--store sqlite]
                                    [--hosts hosts.txt] [--spider sitegraph] [--budget 0] [--scale 2] [--delay 0]
                                    [--seed 1]

Modes: kill (kill -9, and another worker is started), freeze (SIGSTOP until the worker is declared lost, then SIGCONT),
terminate (the server terminates all connections), restart (the server is killed and started again); the last two need
`--store postgresql`. Without `--hosts`, the built-in web is crawled, of which requests are counted; with `--delay`, in
milliseconds, the shortest time between two requests to a host is printed, as the web sees it (a busy machine delays
requests: compare it with that of the undisturbed crawl, and take 200 or more). A crawl that ends before all faults is
followed by another one. With a budget, graphs differ by right, and only the pulls are counted. Exit status 1 if
anything differs.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import psycopg

from tests.support.crawl_web import ALL, WatchedWeb
from tests.support.running import Crawl, differences
from tests.support.services import fresh_database, restart_postgresql, running_postgresql

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.processes import Run

SETTINGS: dict[str, object] = {"LINK_TAGS": "a,area,frame,iframe,meta", "RETRY_BACKOFF_SECONDS": 0.01}
DEADLINE_S = 5.0  # after which a frozen worker is lost
LOOK_S = 0.02
SHOWN = 10


class Gaps:
    """The times between requests to each host, as the server sees them."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}
        self.least_s = float("inf")

    def __call__(self, url: str) -> float:
        """Note a request; return the delay of its response, which is none."""
        host, now = url.split("/", 3)[2], time.monotonic()
        if host in self._last:
            self.least_s = min(self.least_s, now - self._last[host])
        self._last[host] = now
        return 0.0


class Disturbed:
    """A crawl of several workers, with faults every few seconds until it has ended."""

    def __init__(self, crawl: Crawl, options: argparse.Namespace, rng: random.Random, socket: Path | None) -> None:
        self._crawl = crawl
        self._options = options
        self._rng = rng
        self._socket = socket
        self._workers = [crawl.start(is_fresh=True) for _ in range(options.workers)]
        self.faults = 0
        self.went_on_s: list[float] = []  # seconds after each fault

    def run(self, most: int) -> list[Run]:
        """Disturb the crawl at most *most* times, and return its workers when they have ended."""
        faults: dict[str, Callable[[], None]] = {
            "kill": self._kill,
            "freeze": self._freeze,
            "terminate": self._terminate,
            "restart": self._restart,
        }
        while self.faults < most and self._wait(self._rng.uniform(0.5, 1.5) * self._options.every):
            if not self._at_work():
                continue
            faults[self._options.mode]()
            self.faults += 1
        for run in self._workers:
            run.wait(3600.0)
        return self._workers

    def _wait(self, seconds: float) -> bool:
        """Wait; return whether a worker is still at work."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and any(run.is_running for run in self._workers):
            time.sleep(LOOK_S)
        return any(run.is_running for run in self._workers)

    def _at_work(self) -> list[int]:
        """Return the places of the workers that hold sites."""
        held = "SELECT process FROM worker JOIN site ON site.worker_id = worker.id WHERE state = 'active'"
        processes = {process for (process,) in self._crawl.query(held)}
        return [place for place, run in enumerate(self._workers) if run.pid in processes and run.is_running]

    def _kill(self) -> None:
        place = self._rng.choice(self._at_work())
        run = self._workers[place]
        held = self._held(run)
        run.kill()
        run.wait()
        began = time.monotonic()
        self._workers[place] = self._crawl.start(is_fresh=True)
        self._until_held_by_others(held, began)

    def _freeze(self) -> None:
        run = self._workers[self._rng.choice(self._at_work())]
        run.signal(signal.SIGSTOP)
        while self._crawl.server is None and self._crawl.is_locked():
            run.signal(signal.SIGCONT)
            run.signal(signal.SIGSTOP)
        held, began = self._held(run), time.monotonic()
        self._until_held_by_others(held, began)
        run.signal(signal.SIGCONT)

    def _held(self, run: Run) -> list[tuple[Any, ...]]:
        worker = f"SELECT id FROM worker WHERE process = {run.pid} AND state = 'active'"
        return self._crawl.query(f"SELECT id, worker_id FROM site WHERE worker_id IN ({worker})")

    def _until_held_by_others(self, held: list[tuple[Any, ...]], began: float) -> None:
        before = dict(held)
        sites = ", ".join(str(number) for number in before)
        while before and any(run.is_running for run in self._workers):
            now = dict(self._crawl.query(f"SELECT id, worker_id FROM site WHERE id IN ({sites})"))
            if any(owner is not None and owner != before[number] for number, owner in now.items()):
                self.went_on_s.append(time.monotonic() - began)
                return
            if self._crawl.states == ["finished"] or time.monotonic() - began > 20 * DEADLINE_S:
                return
            time.sleep(LOOK_S)

    def _terminate(self) -> None:
        assert self._crawl.server is not None
        with psycopg.connect(self._crawl.server.replace("+psycopg", "")) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid != pg_backend_pid()"
            )
        self._until_pages_end()

    def _restart(self) -> None:
        assert self._socket is not None
        restart_postgresql(self._socket)
        self._until_pages_end()

    def _until_pages_end(self) -> None:
        began, before = time.monotonic(), self._crawl.stored
        while any(run.is_running for run in self._workers):
            if self._crawl.stored > before:
                self.went_on_s.append(time.monotonic() - began)
                return
            time.sleep(LOOK_S)


def compare(whole: Crawl, shared: Crawl, runs: list[Run], budget: int) -> list[str]:
    """Return what is wrong with the result of several workers."""
    # A worker that was started while another one wrote the outputs says that it came too late.
    failed = [run for run in runs if run.wait().status and " is ending: " not in run.log]
    problems = [f"exit status {run.wait().status}: {run.log[-500:]}" for run in failed]
    if budget:
        pulls = shared.query("SELECT count(*) FROM pull")[0][0]
        wanted = whole.query("SELECT count(*) FROM pull")[0][0]
        return problems + ([f"{pulls} pulls of {wanted}"] if pulls != wanted else [])
    if shared.states != ["finished"]:
        problems.append(f"crawls: {shared.states}")
    problems += differences(whole.tables(), shared.tables())
    left, right = whole.files(), shared.files()
    return problems + [f"file {name}" for name in sorted({*left, *right}) if left.get(name) != right.get(name)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--faults", type=int, default=20)
    parser.add_argument("--every", type=float, default=3.0, help="seconds between two faults, on average")
    parser.add_argument("--mode", choices=("kill", "freeze", "terminate", "restart"), default="kill")
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--hosts", type=Path, help="a file of sites; else the built-in web is crawled")
    parser.add_argument("--spider", choices=("sitegraph", "extlinks"), default="sitegraph")
    parser.add_argument("--budget", type=int, default=0, help="PAGE_BUDGET")
    parser.add_argument("--scale", type=int, default=2, help="size of the built-in web")
    parser.add_argument("--delay", type=int, default=0, help="milliseconds between two requests to a host")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.mode in ("terminate", "restart") and options.store == "sqlite":
        parser.error(f"--mode {options.mode} needs --store postgresql")
    settings = {**SETTINGS, "PAGE_BUDGET": options.budget, "WORKER_DEADLINE_SECONDS": DEADLINE_S}
    rng = random.Random(options.seed)
    worst = 0
    with ExitStack() as stack:
        gaps = Gaps()
        web = None if options.hosts else stack.enter_context(WatchedWeb(ALL, options.scale, gaps))
        if web is not None:
            lines = [f"{origin};8;;{options.delay}" for origin in web.origins.values()]
        else:
            lines = options.hosts.read_text("utf-8").splitlines()
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="workers-")))
        whole = stack.enter_context(Crawl(folder / "whole", lines, options.spider, **settings))
        ended = whole.run(is_fresh=True)
        if ended.status:
            raise SystemExit(f"the undisturbed crawl ended with status {ended.status}:\n{ended.log}")
        once = web.requests if web is not None else 0
        least = f", least gap {1000 * gaps.least_s:.1f} ms" if web is not None else ""
        print(f"undisturbed: {whole.stored} URLs ended, {once or 'uncounted'} requests{least}")
        print(f"{'crawl':>5} {options.mode:>9} {'workers':>8} {'requests again':>15} {'differences':>12} ", end="")
        print(f"{'goes on after s (median, most)':>31} {'least gap ms':>13} {'seconds':>8}")
        socket = stack.enter_context(running_postgresql()) if options.store == "postgresql" else None
        faults, number = 0, 0
        while faults < options.faults:
            number += 1
            gaps.least_s = float("inf")
            if web is not None:
                web.counts.clear()
            store = {"DATABASE_URL": stack.enter_context(fresh_database(socket))} if socket is not None else {}
            shared = stack.enter_context(Crawl(folder / f"shared{number}", lines, options.spider, **settings, **store))
            began = time.monotonic()
            disturbed = Disturbed(shared, options, rng, socket)
            problems = compare(whole, shared, disturbed.run(options.faults - faults), options.budget)
            faults += disturbed.faults
            went_on = disturbed.went_on_s
            pauses = f"{median(went_on):.2f}, {max(went_on):.2f}" if went_on else "-"
            again = web.requests - once if web is not None else "-"
            gap = f"{1000 * gaps.least_s:.1f}" if web is not None else "-"
            workers = shared.query("SELECT count(*) FROM worker")[0][0]
            print(
                f"{number:>5} {disturbed.faults:>9} {workers:>8} {again:>15} {len(problems):>12} {pauses:>31} "
                f"{gap:>13} {time.monotonic() - began:>8.0f}",
                flush=True,
            )
            for problem in problems[:SHOWN]:
                print("     ", problem)
            worst = max(worst, int(bool(problems)))
    sys.exit(worst)


if __name__ == "__main__":
    main()
