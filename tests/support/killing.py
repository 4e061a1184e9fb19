"""Kills a crawl with kill -9 at moments of its progress, chosen by a seeded generator.

Moments: when the web receives the n-th request (before its response, with others in flight); after the n-th write to
the database; while the database is being created; when the log has n bytes (start-up); and while graphs are being
written, after a graceful stop.
"""

from __future__ import annotations

import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import count

KINDS = {"request": 5, "commit": 5, "startup": 1, "graphs": 2}  # with their weights
STARTUP_LOG_BYTES = 500  # the log of a run up to its first request
BIRTH_WRITES = 4  # the tables and the rows of a new crawl are a few transactions
TRIES_PER_KILL = 4  # a run may end gracefully before its moment


@dataclass(slots=True)
class Toll:
    """The kills of a crawl."""

    kills: Counter[str] = field(default_factory=Counter)  # by kind
    began_s: list[float] = field(default_factory=list)  # when runs were started, by the monotonic clock
    stored_at_kills: list[int] = field(default_factory=list)  # number of URLs that had ended by then

    @property
    def total(self):
        return self.kills.total()

    @property
    def runs(self):
        return len(self.began_s)


def act_at_request(web, number, act):
    """Let *act* be called once, when *web* receives its request with that *number* from now on."""
    numbers = count(1)

    def on_request():
        if next(numbers) == number:
            act()

    web.on_request = on_request


def killed_at_request(crawl, web, number, **how):
    """Run *crawl* until the web has received *number* requests, of which the last gets no response; return the status.

    *how* is what `Crawl.start` takes.
    """
    run = crawl.start(**how)
    act_at_request(web, number, run.kill)
    status = run.wait().status
    web.on_request = None
    return status


class Killer:
    """Starts *crawl* and kills it repeatedly; *reach* is the maximum number of requests of one run.

    *kinds* are the moments, with their weights.
    """

    def __init__(self, crawl, web, rng, reach, kinds=KINDS):
        self._crawl = crawl
        self._web = web
        self._rng = rng
        self._reach = reach
        self._kinds = kinds
        self._log = crawl.database.with_name(crawl.database.name + "-wal")
        self.toll = Toll()

    def kill(self, times):
        """Kill the crawl *times* times, or until it is finished."""
        for _ in range(times * TRIES_PER_KILL):
            if self.toll.total >= times or self._is_finished():
                return
            self._once()

    def _is_finished(self):
        return "finished" in self._crawl.states

    def _once(self):
        kind = self._rng.choices(list(self._kinds), list(self._kinds.values()))[0]
        if self._kinds is KINDS and not self._crawl.states and self._rng.random() >= 0.25:
            kind = "birth"
        self.toll.began_s.append(time.monotonic())
        # Transactions of many sizes, so that kills fall before, within and after many of them.
        run = self._crawl.start(
            STORE_BATCH_SECONDS=self._rng.choice((0.005, 0.02, 0.05)),
        )
        getattr(self, f"_at_{kind}")(run)
        self._web.on_request = None
        if run.is_running:
            run.kill()
        if run.wait().status == -signal.SIGKILL and not self._is_finished():
            self.toll.kills[kind] += 1
            self.toll.stored_at_kills.append(self._crawl.stored)

    def _at_request(self, run):
        self._after_requests(run, signal.SIGKILL)
        run.until(lambda: False, "the end of a killed process")

    def _after_requests(self, run, number):
        act_at_request(self._web, self._rng.randint(1, self._reach), lambda: run.signal(number))

    def _at_commit(self, run):
        for _ in range(self._rng.randint(1, max(1, self._reach // 5))):
            before = _stamp(self._log)
            if not run.until(lambda before=before: _stamp(self._log) != before, "a write to the database"):
                return

    def _at_birth(self, run):
        for _ in range(self._rng.randint(1, BIRTH_WRITES)):
            before = _stamp(self._crawl.database), _stamp(self._log)
            run.until(
                lambda before=before: (_stamp(self._crawl.database), _stamp(self._log)) != before,
                "a write to the new database",
            )

    def _at_startup(self, run):
        wanted = self._rng.randrange(STARTUP_LOG_BYTES)
        run.until(lambda: run.log_bytes >= wanted, f"a log of {wanted} bytes")

    def _at_graphs(self, run):
        before = self._graph_files()
        self._after_requests(run, signal.SIGTERM)
        run.until(lambda: self._graph_files() != before, "a graph file")

    def _graph_files(self):
        return {(path.name, *_stamp(path)) for path in self._crawl.result.glob("*")}


def _stamp(path):
    try:
        status = path.stat()
    except FileNotFoundError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
