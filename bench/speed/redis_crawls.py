"""Against scrapy-redis: pages a second, bytes of a waiting URL in the server, and what ten kills lose.

    python -m bench.speed.redis_crawls [--sites 10] [--rounds 3] [--parts speed,bytes,kills] [--waiting 100000]

Both crawl the same sites from nginx with two processes, the same number of requests at a time and no delay: this
project with its links stored in SQLite or PostgreSQL, scrapy-redis (bench.speed.redis_spider) with the configuration of
its README in a Redis server that writes nothing to its disk. scrapy-redis is installed into an environment of its own.
*Bytes*: a site of which many URLs wait is crawled until they do. *Kills*: ten times, after equal numbers of pages, one
of the two processes is killed (kill -9) and started again; then pages are counted that the web server was never asked
for, and those that are not stored.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import redis

from bench.speed.many_sites import serve_sites
from bench.speed.website import PAGES
from bench.speed.workers import LOOK_S, PARALLEL, Cost, cost, measure, stores, watch
from crawlers.items import State
from tests.support.services import fresh_database, running_redis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.speed.many_sites import Web
    from bench.speed.workers import Parts

ROOT = Path(__file__).parents[2]
VERSION = "scrapy-redis==0.9.1"
ENVIRONMENT = Path("bench-out/scrapy-redis")
CONCURRENT = 64  # requests at a time of each process
KINDS = ("sqlite", "postgresql", "redis")
OK = 200
HUBS = 200  # pages of the site of which many URLs wait
QUIET_S = 5.0  # for which an empty queue and no new page mean that the rival has done all it can


# scrapy-redis ---------------------------------------------------------------------------------------


def rival_python() -> Path:
    """Return the interpreter of an environment with scrapy-redis, which is made if there is none."""
    python = ENVIRONMENT.absolute() / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", VERSION], check=True, stderr=subprocess.DEVNULL)
    return python


class Rival:
    """A crawl by scrapy-redis, in processes that share a Redis server."""

    def __init__(self, python: Path, web: Web, url: str, folder: Path) -> None:
        self._folder = folder
        self._redis = redis.Redis.from_url(url)
        self._redis.flushall()
        self.empty_bytes = self._redis.info("memory")["used_memory"]
        for site in web.urls:
            self._redis.rpush("rival:start_urls", json.dumps({"url": f"{site}/"}))
        self._command = [str(python), "-m", "scrapy", "runspider", str(ROOT / "bench" / "speed" / "redis_spider.py")]
        for setting in (
            f"REDIS_URL={url}",
            f"CONCURRENT_REQUESTS={CONCURRENT}",
            f"CONCURRENT_REQUESTS_PER_DOMAIN={PARALLEL}",
        ):
            self._command += ["-s", setting]
        self._processes: list[subprocess.Popen[bytes]] = []
        self._seen, self._at = -1, 0.0
        self._server = int(self._redis.info("server")["process_id"])

    def start(self, number: int) -> None:
        self._processes = [self._run() for _ in range(number)]

    def _run(self) -> subprocess.Popen[bytes]:
        with (self._folder / "rival.log").open("ab") as log:
            return subprocess.Popen(self._command, cwd=self._folder, stdout=log, stderr=log)

    @property
    def pages(self) -> int:
        return int(self._redis.llen("rival:items"))

    @property
    def waiting(self) -> int:
        return int(self._redis.zcard("rival:requests"))

    @property
    def is_running(self) -> bool:
        """Whether something waits, or was stored within the last seconds; its processes never end by themselves."""
        seen, now = self.pages, time.monotonic()
        if seen != self._seen or self.waiting or self._redis.llen("rival:start_urls"):
            self._seen, self._at = seen, now
        return now - self._at < QUIET_S

    def processes(self, web: Web) -> Parts:
        """Return its processes, that of the web server, and that of the Redis server."""
        return [process.pid for process in self._processes], [web.process], [self._server]

    def kill(self, rng: random.Random) -> None:
        """Kill one of its processes, and start it again."""
        place = rng.randrange(len(self._processes))
        self._end(self._processes[place])
        self._processes[place] = self._run()

    def close(self) -> None:
        for process in self._processes:
            self._end(process)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()

    def stored(self) -> set[str]:
        """Return the URLs of the stored pages."""
        return {json.loads(item)["url"] for item in self._redis.lrange("rival:items", 0, -1)}

    def sizes(self) -> dict[str, float]:
        """Return the bytes of each part for every URL that waits."""
        queue = self._redis.memory_usage("rival:requests", samples=0)
        seen = self._redis.memory_usage("rival:dupefilter", samples=0)
        everything = self._redis.info("memory")["used_memory"] - self.empty_bytes
        waiting = self.waiting
        return {"queue": queue / waiting, "known URLs": seen / waiting, "everything": everything / waiting}


# This project ---------------------------------------------------------------------------------------


class Ours:
    """A crawl by this project; *url* is an empty store, or empty for SQLite."""

    def __init__(self, web: Web, url: str, folder: Path) -> None:
        self._folder = folder
        self._url = url
        (folder / "hosts.txt").write_text("".join(f"{site};{PARALLEL};;0\n" for site in web.urls), "utf-8")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, number: int) -> None:
        command = [sys.executable, "-m", "scrapy", "crawl", "sitegraph", "-a", "hosts=hosts.txt"]
        store = self._url or "sqlite:///crawl.sqlite"
        for setting in (f"WORKERS={number}", f"CONCURRENT_REQUESTS={CONCURRENT}", f"DATABASE_URL={store}"):
            command += ["-s", setting]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "crawlers.settings"}
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, cwd=self._folder, env=environment, stdout=log, stderr=log)

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """Return rows of the store; [] while it does not exist."""
        if self._url:
            with (
                suppress(psycopg.errors.UndefinedTable),
                psycopg.connect(self._url.replace("+psycopg", "")) as connection,
            ):
                return connection.execute(statement.encode()).fetchall()
            return []
        with (
            suppress(sqlite3.OperationalError),
            closing(sqlite3.connect(f"file:{self._folder / 'crawl.sqlite'}?mode=ro", uri=True)) as connection,
        ):
            return connection.execute(statement).fetchall()
        return []

    @property
    def pages(self) -> int:
        return sum(pages for (pages,) in self.query("SELECT pages FROM worker"))

    @property
    def waiting(self) -> int:
        return sum(count for (count,) in self.query(f"SELECT count(*) FROM page WHERE state = {int(State.WAITING)}"))

    @property
    def is_running(self) -> bool:
        assert self._process is not None
        return self._process.poll() is None

    def kill(self, rng: random.Random) -> None:
        """Kill one of the workers; another one takes its place."""
        processes = [process for (process,) in self.query("SELECT process FROM worker WHERE state = 'active'")]
        if processes:
            with suppress(ProcessLookupError):
                os.kill(rng.choice(processes), signal.SIGKILL)

    def close(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stored(self) -> set[str]:
        """Return the URLs of the stored pages."""
        return {url for (url,) in self.query(f"SELECT url FROM page WHERE state = {int(State.DONE)}")}

    def sizes(self) -> dict[str, float]:
        """Return the bytes of each part for every URL that waits."""
        if self._url:
            statement = """
                SELECT relname, pg_total_relation_size(relid) FROM pg_stat_user_tables"""
        else:
            with closing(sqlite3.connect(self._folder / "crawl.sqlite")) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            statement = """
                SELECT m.tbl_name, sum(d.pgsize) FROM dbstat AS d JOIN sqlite_master AS m ON m.name = d.name
                WHERE d.aggregate = TRUE GROUP BY m.tbl_name"""
        sizes = dict(self.query(statement))
        parts = {"pages": sizes["page"], "links": sizes["link"], "everything": sum(sizes.values())}
        waiting = self.waiting
        return {name: float(size) / waiting for name, size in parts.items()}


@contextmanager
def crawls(kind: str, python: Path, web: Web) -> Iterator[Rival | Ours]:
    """Yield a crawl that has not started, of the *kind* redis, sqlite or postgresql."""
    with tempfile.TemporaryDirectory(prefix="crawl-") as temporary, ExitStack() as stack:
        crawl: Rival | Ours
        if kind == "redis":
            crawl = Rival(python, web, stack.enter_context(running_redis()), Path(temporary))
        else:
            socket, _ = stack.enter_context(stores(kind))
            url = stack.enter_context(fresh_database(socket)) if socket is not None else ""
            crawl = Ours(web, url, Path(temporary))
        try:
            yield crawl
        finally:
            crawl.close()


# What is measured -----------------------------------------------------------------------------------


def measure_rival(python: Path, web: Web) -> Cost:
    """Let two processes of scrapy-redis crawl all sites once."""
    with tempfile.TemporaryDirectory(prefix="crawl-") as temporary, running_redis() as url:
        rival = Rival(python, web, url, Path(temporary))
        try:
            rival.start(2)
            looks = watch(lambda: rival.is_running, lambda: rival.pages, lambda: rival.processes(web))
        finally:
            rival.close()
        return cost([one for one in looks if one.s <= next(seen.s for seen in looks if seen.pages == looks[-1].pages)])


def speed(python: Path, sites: int, rounds: int) -> None:
    """Print what crawls of two processes cost, in alternating order."""
    print(
        f"{'store':<11} {'pages':>7} {'whole s':>7} {'pages/s':>7} "
        f"{'CPU ms a page: crawler':>23} {'web':>6} {'store':>6}"
    )
    costs: dict[str, list[Cost]] = {kind: [] for kind in KINDS}
    with serve_sites(sites) as web, stores("postgresql") as (socket, server):
        assert socket is not None
        for turn in range(rounds):
            for kind in KINDS if turn % 2 == 0 else KINDS[::-1]:
                if kind == "redis":
                    one = measure_rival(python, web)
                else:
                    with fresh_database(socket) if kind == "postgresql" else nullcontext("") as url:
                        one = measure(web, 2, url, server if url else 0, [f"CONCURRENT_REQUESTS={CONCURRENT}"])
                costs[kind].append(one)
                print(
                    f"{kind:<11} {one.pages:>7} {one.whole_s:>7.1f} {one.per_s:>7.0f} {one.crawler_ms:>23.2f} "
                    f"{one.web_ms:>6.2f} {one.store_ms:>6.2f}",
                    flush=True,
                )
    for kind in KINDS[:-1]:
        pairs = [*zip(costs[kind], costs["redis"], strict=True)]
        summary = {
            "times_as_fast": round(statistics.median(a.per_s / b.per_s for a, b in pairs), 2),
            "times_as_fast_whole": round(statistics.median(b.whole_s / a.whole_s for a, b in pairs), 2),
            "cpu_ratio": round(
                statistics.median((b.crawler_ms + b.store_ms) / (a.crawler_ms + a.store_ms) for a, b in pairs), 2
            ),
        }
        print(json.dumps({"bench": "redis_crawls", "store": kind, **summary}), flush=True)


def hub_pages(links: int) -> dict[str, bytes]:
    """Return HUBS pages, each with its part of *links* to pages that do not exist, and a home page."""

    def page(targets: list[str]) -> bytes:
        return f"<html><title>Hub</title>{''.join(f'<a href={t}>{t}</a> ' for t in targets)}</html>".encode()

    hubs = [f"/hub-{number}.html" for number in range(HUBS)]
    parts = {hub: page([f"/section-{n}/page-{i}.html" for i in range(links // HUBS)]) for n, hub in enumerate(hubs)}
    return {"/": page(hubs), **parts}


def waiting_bytes(python: Path, waiting: int) -> None:
    """Print what a waiting URL takes in each store."""
    with serve_sites(1, hub_pages(2 * waiting)) as web:
        for kind in KINDS:
            with crawls(kind, python, web) as crawl:
                crawl.start(1)
                while crawl.waiting < waiting:
                    if not crawl.is_running:
                        raise SystemExit(f"{kind}: the crawl ended early, when {crawl.waiting} URLs waited")
                    time.sleep(LOOK_S)
                crawl.close()
                sizes = ", ".join(f"{name} {size:,.0f}" for name, size in crawl.sizes().items())
                print(f"{kind}: {crawl.waiting:,} URLs wait; bytes of each: {sizes}", flush=True)


def kills(python: Path, sites: int, number: int) -> bool:
    """Kill a process *number* times in each crawl; print what is lost. Return whether this project lost nothing."""
    is_whole = True
    with serve_sites(sites) as web:
        pages = sites * PAGES
        for kind in KINDS:
            web.forget()
            rng = random.Random(1)
            began = time.monotonic()
            with crawls(kind, python, web) as crawl:
                crawl.start(2)
                killed = 0
                while crawl.is_running:
                    if killed < number and crawl.pages >= pages * (killed + 1) / (number + 1):
                        crawl.kill(rng)
                        killed += 1
                    time.sleep(LOOK_S)
                stored = len(crawl.stored())
            answers = [request for request in web.requests() if request.status == OK]
            requested = len({(request.address, request.path) for request in answers})
            print(
                f"{kind}: {killed} kills in {time.monotonic() - began:.0f} s; of {pages:,} pages, "
                f"{pages - requested:,} were never requested, {pages - stored:,} are not stored; "
                f"{len(answers) - requested:,} repeated requests",
                flush=True,
            )
            is_whole &= kind == "redis" or (stored == requested == pages)
    return is_whole


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.speed.redis_crawls", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--sites", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--waiting", type=int, default=100_000, help="URLs that wait when their bytes are measured")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--parts", default="speed,bytes,kills")
    options = parser.parse_args()
    python = rival_python()
    is_whole = True
    for part in options.parts.split(","):
        if part == "speed":
            speed(python, options.sites, options.rounds)
        elif part == "bytes":
            waiting_bytes(python, options.waiting)
        elif part == "kills":
            is_whole = kills(python, options.sites, options.kills)
        else:
            parser.error(f"unknown part {part!r}; choose from speed, bytes, kills")
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main())
