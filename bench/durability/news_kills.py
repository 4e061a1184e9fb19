"""Kills news crawls with kill -9 while papers keep publishing, and compares the stored documents with the truth.

    python -m bench.durability.news_kills [--kills 100] [--each 50] [--reach 80] [--sites 4] [--seed 1]
                                          [--workers 1] [--store sqlite]

Each crawl is of another simulated press. It is killed *each* times, then it runs until the papers
have published everything and nothing is due. With several workers, one of them is killed, and started again, while the
others go on. Exit status 1 if anything is lost, duplicated or wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from crawlers.items import REVISIT
from crawlers.missions.news.dedup.document_fingerprints import compared_words, nearly_same
from crawlers.urls.resolution import resolve
from tests.support.missions.news.watched_press import WatchedPress
from tests.support.processes import until
from tests.support.running import Crawl, add_on
from tests.support.services import fresh_database, running_postgresql

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Set

    from tests.support.missions.news.watched_press import Announcement
    from tests.support.processes import Run

SETTINGS = {
    "SITE_DELAY_SECONDS": 0,
    "RETRY_BACKOFF_SECONDS": 0.01,
    "FEED_MIN_SECONDS": 1,
    "FEED_MAX_SECONDS": 20,
    "FEED_POLLS_PER_SECOND": 5,
    "NEWS_RECHECK_HOURS": 5 / 3600,
    "EXTRACTION_PROCESSES": 1,
    "NEWS_ONCE": 1,
}
MAX_COMMITS = 25  # of a run, before it is killed in one
STARTUP_LOG_BYTES = 1_500
END_S = 1_800.0  # until a worker has ended
MAX_RUNS = 100  # until a crawl is finished
SHOWN = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a crawl."""

    kills: Counter[str]  # by moment
    requests: int
    unchanged: int
    documents: int
    items: int
    versions: int
    problems: list[str]

    def row(self) -> dict[str, int]:
        return {
            "kills": self.kills.total(), "requests": self.requests, "unchanged": self.unchanged,
            "documents": self.documents, "items": self.items, "versions": self.versions,
            "problems": len(self.problems),
        }  # fmt: skip


class Witness:
    """Sees after each kill what is committed: from then on it must not be gone, nor be another."""

    def __init__(self, crawl: Crawl, press: WatchedPress) -> None:
        self._crawl, self._press = crawl, press
        self._versions: dict[tuple[int, int], str] = {}  # texts by page and version
        self._announced: set[str] = set()  # URLs in answers of feeds whose polls are committed
        self._latest: dict[str, set[str]] = {}  # those in the latest answer of each feed
        self._sent: set[str] = set()  # URLs in all answers
        self._new: list[Announcement] = []  # of which the polls were not committed when they were last looked at

    @property
    def announced(self) -> dict[int, str]:
        """All that must be known of feeds: URLs by key."""
        return _by_key(self._announced.union(*self._latest.values()))

    @property
    def sent(self) -> dict[int, str]:
        """All that may be known of feeds: URLs by key."""
        return _by_key(self._sent)

    def look(self) -> list[str]:
        """What is wrong with what was committed."""
        polled = dict(self._crawl.query("SELECT p.url, polled_at FROM poll JOIN page p ON p.id = page_id"))
        self._new += self._press.announcements
        del self._press.announcements[:]
        committed: dict[str, set[str]] = {}
        for announcement in self._new:
            self._latest[announcement.feed] = announcement.articles
            self._sent |= announcement.articles
            # The last one before the poll. That of a worker that was killed before may be lost: its items may have left
            # the feed by the next poll.
            if announcement.sent_at <= polled.get(announcement.feed, 0.0):
                committed[announcement.feed] = announcement.articles
        self._announced.update(*committed.values())
        self._new = [one for one in self._new if one.sent_at > polled.get(one.feed, 0.0)]
        rows = self._crawl.query(
            "SELECT page_id, version, text FROM document UNION ALL SELECT page_id, version, text FROM document_version"
        )
        known, found = self._versions, {(page, version): text for page, version, text in rows}
        problems = [f"version gone: {version}" for version in known if version not in found]
        problems += [f"version changed: {v}" for v, text in known.items() if found.get(v, text) != text]
        problems += [f"version without the one before: {(p, v)}" for p, v in found if v > 1 and (p, v - 1) not in found]
        if len(rows) > len(found):
            problems.append("a version is there twice")
        self._versions = found
        return problems


class Killer:
    """Starts *crawl*, of *press*, and kills it. *reach*: the largest number of requests of one run."""

    def __init__(self, crawl: Crawl, press: WatchedPress, rng: random.Random, reach: int) -> None:
        self._crawl, self._press, self._rng, self._reach = crawl, press, rng, reach
        self._log = crawl.database.with_name(crawl.database.name + "-wal")
        self.kills: Counter[str] = Counter()

    def kill(self) -> None:
        """One run; it may end before its moment comes."""
        rng = self._rng
        kind = rng.choices(("request", "commit", "write", "startup"), (4, 4, 3, 1))[0]
        settings: dict[str, object] = {
            "STORE_BATCH_SECONDS": rng.choice((0.005, 0.05, 0.5)),
        }  # fmt: skip
        moment = rng.randint(1, self._reach)
        if kind == "commit":
            settings |= {"ADDONS": add_on("KillBeforeCommit"), "KILL_BEFORE_COMMIT": 1 + moment % MAX_COMMITS}
        run = self._crawl.start(arguments=("sources=sources.yaml",), **settings)
        if kind == "request":
            self._press.on_request = _nth(moment, run.kill)
        elif kind == "write":
            for _ in range(1 + moment % MAX_COMMITS):
                before = _size(self._log)
                run.until(lambda before=before: _size(self._log) != before, "a write to the database")
            run.kill()
        elif kind == "startup":
            run.until(lambda: run.log_bytes >= moment * STARTUP_LOG_BYTES // self._reach, "a start")
            run.kill()
        status = run.wait().status
        self._press.on_request = None
        if status == -signal.SIGKILL:
            self.kills[kind] += 1
        elif status != 0:
            raise SystemExit(f"a run ended with status {status}:\n{run.log[-3000:]}")

    def wait(self) -> None:
        """Do nothing: no run goes on."""


class CrewKiller:
    """Keeps *workers* workers of *crawl* at work, and kills one of them; otherwise as `Killer`."""

    def __init__(self, crawl: Crawl, press: WatchedPress, rng: random.Random, reach: int, workers: int) -> None:
        self._crawl, self._press, self._rng, self._reach = crawl, press, rng, reach
        self._workers = workers
        self._runs: list[Run] = []
        self.kills: Counter[str] = Counter()

    def kill(self) -> None:
        """Go on until a worker is killed; or until one has ended, because nothing was due."""
        rng = self._rng
        moment = rng.randint(1, self._reach)
        while len(self._runs) < self._workers:
            settings: dict[str, object] = {"STORE_BATCH_SECONDS": rng.choice((0.005, 0.05, 0.5))}
            if rng.random() < 0.5 / self._workers:
                settings |= {"ADDONS": add_on("KillBeforeCommit"), "KILL_BEFORE_COMMIT": 1 + moment % MAX_COMMITS}
            self._runs.append(self._crawl.start(arguments=("sources=sources.yaml",), **settings))
        chosen, hit = rng.choice(self._runs), []

        def hit_chosen() -> None:
            hit.append(chosen)
            chosen.kill()

        self._press.on_request = _nth(moment, hit_chosen)
        until(lambda: not all(run.is_running for run in self._runs), "the end of a worker", END_S)
        self._press.on_request = None
        for run in [run for run in self._runs if not run.is_running]:
            self._runs.remove(run)
            status = run.wait().status
            if status == -signal.SIGKILL:
                self.kills["request" if run in hit else "commit"] += 1
            elif status != 0 and " is ending: " not in run.log:
                raise SystemExit(f"a worker ended with status {status}:\n{run.log[-3000:]}")

    def wait(self) -> None:
        """Wait for the ends of the workers that were not killed."""
        for run in self._runs:
            ended = run.wait(END_S)
            if ended.status not in (0, -signal.SIGKILL) and " is ending: " not in ended.log:
                raise SystemExit(f"a worker ended with status {ended.status}:\n{ended.log[-3000:]}")


def _by_key(urls: Set[str]) -> dict[int, str]:
    return {resolve(url, url).key: url for url in urls}


def _nth(number: int, then: Callable[[], None]) -> Callable[[], None]:
    left = iter(range(number - 1, -1, -1))
    return lambda: then() if next(left, None) == 0 else None


def _size(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def go_on(crawl: Crawl, press: WatchedPress, workers: int) -> None:
    """Run the crawl until the papers have published all, and all that comes back was seen since."""
    over_at = None
    for _ in range(MAX_RUNS):
        ended = crawl.start(arguments=("sources=sources.yaml",), is_fresh=workers > 1, WORKERS=workers).wait(END_S)
        if ended.status:
            raise SystemExit(f"a run ended with status {ended.status}:\n{ended.log[-3000:]}")
        if over_at is not None:
            ((due,),) = crawl.query(
                "SELECT count(*) FROM poll JOIN news_score USING (page_id) "
                f"WHERE queue = {REVISIT} AND polled_at < {over_at}"
            )
            if not due and not crawl.waiting:
                return
        elif press.is_over:
            over_at = time.time()
    raise SystemExit(f"the crawl is not finished after {MAX_RUNS} runs")


def problems_of(crawl: Crawl, press: WatchedPress, announced: Mapping[int, str], sent: Mapping[int, str]) -> list[str]:
    """What a crawl that is finished has lost, doubled, or has wrong."""
    truth = {article.url: article for host in press.press.hosts for article in press.press.articles(host, press.end)}
    rows = crawl.query("SELECT url, title, text FROM document")
    stored: defaultdict[str, list[list[str]]] = defaultdict(list)
    for url, title, text in rows:
        stored[press.press.document(url, press.end)].append(compared_words(title, text))
    own = [url for url, article in truth.items() if not article.copy_of]
    problems = [f"lost: {url}" for url in own if url not in stored]
    # Some reprints differ too much to be told: those are documents of their own.
    problems += [f"doubled: {url}" for url in own if any(nearly_same(*two) for two in combinations(stored[url], 2))]
    for url, _, text in rows:
        article = truth.get(url) or truth.get(unquote(url))
        if article is None:
            continue  # of another address
        wanted = "".join(article.room.text(article.number, press.read_at[unquote(url)]))
        if "".join(wanted.split()) not in "".join(text.split()):
            problems.append(f"not its latest text: {url}")
    items = {key for (key,) in crawl.query("SELECT key FROM feed_item")}
    problems += [f"item missed: {announced[key]}" for key in announced.keys() - items]
    problems += [f"item that was never announced: {key}" for key in items - sent.keys()]
    if crawl.server is None and crawl.query("PRAGMA integrity_check") != [("ok",)]:
        problems.append("the database is damaged")
    return problems


def one_crawl(folder: Path, press: WatchedPress, chosen: argparse.Namespace, kills: int, rng: random.Random) -> Outcome:
    """Kill a crawl of *press* that many times; return its result."""
    with ExitStack() as stack:
        settings: dict[str, object] = dict(SETTINGS)
        if chosen.store == "postgresql":
            socket = stack.enter_context(running_postgresql())
            settings["DATABASE_URL"] = stack.enter_context(fresh_database(socket))
        crawl = stack.enter_context(Crawl(folder, (), spider="news", **settings))
        (folder / "sources.yaml").write_text(press.sources(), "utf-8")
        problems: list[str] = []
        witness = Witness(crawl, press)
        killer: Killer | CrewKiller = Killer(crawl, press, rng, chosen.reach)
        if chosen.workers > 1:
            killer = CrewKiller(crawl, press, rng, chosen.reach, chosen.workers)
        while killer.kills.total() < kills:
            killer.kill()
            problems += witness.look()
        killer.wait()
        go_on(crawl, press, chosen.workers)
        problems += witness.look() + problems_of(crawl, press, witness.announced, witness.sent)
        ((documents, items, versions),) = crawl.query(
            "SELECT (SELECT count(*) FROM document), (SELECT count(*) FROM feed_item), "
            "(SELECT count(*) FROM document_version)"
        )
        return Outcome(killer.kills, press.requests, press.unchanged, documents, items, versions, problems)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.durability.news_kills", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--each", type=int, default=50, help="kills of one crawl")
    parser.add_argument("--reach", type=int, default=80, help="most requests of one run before it is killed")
    parser.add_argument("--sites", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    chosen = parser.parse_args()
    if chosen.store == "postgresql" and chosen.workers < 2:
        parser.error("--store postgresql needs --workers")  # a single one is also killed while it writes to its file
    rng = random.Random(chosen.seed)
    done: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    began = time.perf_counter()
    print("| crawl | kills | requests | answered with 304 | documents | feed items | versions | problems | seconds |")
    print("|" + "--:|" * 9)
    with tempfile.TemporaryDirectory(prefix="news-kills-") as folder:
        for number in range(1, 1 + max(1, -(-chosen.kills // chosen.each))):
            kills = min(chosen.each, chosen.kills - done.total())
            # The papers publish while the crawl is killed.
            requests = max(1, chosen.each * chosen.reach // 2)
            with WatchedPress(chosen.seed + number - 1, chosen.sites, requests) as press:
                outcome = one_crawl(Path(folder) / f"crawl{number}", press, chosen, kills, rng)
            done += outcome.kills
            row = outcome.row()
            totals.update(row)
            print(f"| {number} | " + " | ".join(f"{value:,}" for value in row.values()), end="")
            print(f" | {time.perf_counter() - began:.0f} |", flush=True)
            for problem in outcome.problems[:SHOWN]:
                print("     ", problem)
            if not outcome.problems:
                shutil.rmtree(Path(folder) / f"crawl{number}")
    options = {name: getattr(chosen, name) for name in ("workers", "store")}
    print(json.dumps({**options, **totals, "by_moment": dict(done)}))
    raise SystemExit(1 if totals["problems"] else 0)


if __name__ == "__main__":
    main()
