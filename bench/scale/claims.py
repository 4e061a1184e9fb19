"""Workers that claim the sites of one crawl, and exchange reports: what that costs on SQLite and PostgreSQL.

python -m bench.scale.claims [--sites 20000] [--workers 8] [--stores sqlite,postgresql] [--rounds 1,8,64]
python -m bench.scale.claims --in-turn --sites 1000000 --workers 200 --stores postgresql

Each worker is a process with a connection of its own. First one of them begins the crawl, and the others join it at
once, as with WORKERS; then all sites of another crawl are free, and each worker claims CLAIMED of them a round, until
nothing is left. At the end, rounds of several numbers of workers are timed one by one, without and with a page budget.
With --in-turn, one process does what all workers do, one after the other: for more workers than a machine can run.
PostgreSQL is started from the installed programs; server and workers share the processors of this machine.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import tempfile
import time
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, text, update

from crawlers.storage import crawls, workers
from crawlers.storage.database import Database
from crawlers.storage.locks import WorkerLock
from crawlers.storage.schema.tables import PullRow, crawl, site, worker
from crawlers.storage.site_rows import SiteRow
from crawlers.storage.workers import Report
from tests.support.services import fresh_database, running_postgresql
from tests.support.stored_rows import write_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.synchronize import Barrier

    from sqlalchemy import Connection

NAME = "claims"
CLAIMED = 200  # sites of a worker and round
ROUNDS = 200  # timed for each number of workers
PULLS = 30  # of each worker between two rounds, with a budget
BUDGET = 10**9
_SITES = {
    "sqlite": """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :sites)
        INSERT INTO site (id, crawl_id, seed_id, site, parallel, delay_s, is_open)
        SELECT i, :crawl, 0, 'http://h' || i || '.test', 1, 1.0, true FROM n""",
    "postgresql": """
        INSERT INTO site (id, crawl_id, seed_id, site, parallel, delay_s, is_open)
        SELECT i, :crawl, 0, 'http://h' || i || '.test', 1, 1.0, true FROM generate_series(1, :sites) AS i""",
}


@contextmanager
def some_store(kind: str) -> Iterator[str]:
    if kind == "sqlite":
        with tempfile.TemporaryDirectory(prefix="claims-") as folder:
            yield f"sqlite:///{folder}/crawl.sqlite"
    else:
        with running_postgresql() as socket, fresh_database(socket) as url:
            yield url


def _begin(url: str, sites: int, share: int) -> tuple[Database, crawls.CrawlRow, WorkerLock]:
    database = Database(url)
    rows = [SiteRow(0, f"http://h{number}.test", 1, None, 1.0) for number in range(1, sites + 1)]
    locks: list[WorkerLock] = []
    begun = crawls.begin(
        database, NAME, "sitegraph", rows, {}, time.time(), hold=lambda one: locks.append(WorkerLock(database, one)),
        share=share,
    )  # fmt: skip
    return database, begun, locks[0]


def _start(url: str, sites: int, share: int, barrier: Barrier, results: Any) -> None:
    """Be one of the processes that are started at once."""
    barrier.wait()
    began = time.perf_counter()
    database, begun, lock = _begin(url, sites, share)
    results.put((time.perf_counter() - began, len(begun.sites)))
    barrier.wait()  # nobody is dead before all have joined
    lock.release()
    database.close()


def _take(url: str, crawl_id: int, sites: int, barrier: Barrier, results: Any) -> None:
    """Be one of the workers that claim sites in rounds."""
    database = Database(url)
    with database.write() as connection:
        me = workers.join(connection, crawl_id, "bench", 0, "0", time.time())
    barrier.wait()
    taken, seconds = 0, []
    while True:
        began = time.perf_counter()
        with database.write() as connection:
            now = workers.server_time(connection)
            learnt = workers.exchange(connection, Report(me, crawl_id, wanted_sites=CLAIMED, is_hungry=True), now)
        seconds.append(time.perf_counter() - began)
        taken += len(learnt.claimed)
        if not learnt.claimed:
            break
    results.put((taken, seconds))
    database.close()


def _together(target: Any, number: int, *arguments: Any) -> tuple[float, float, list[Any]]:
    """Return the seconds that *number* processes take once all are ready, their CPU seconds, and their results."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    barrier, results = multiprocessing.Barrier(number + 1), multiprocessing.Queue()
    processes = [multiprocessing.Process(target=target, args=(*arguments, barrier, results)) for _ in range(number)]
    for process in processes:
        process.start()
    barrier.wait()
    began = time.perf_counter()
    got = [results.get() for _ in processes]
    seconds = time.perf_counter() - began
    if target is _start:
        barrier.wait()
    for process in processes:
        process.join()
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - used, got


def fill(url: str, sites: int) -> int:
    """Make a crawl of free sites, and return its number."""
    database = Database(url)
    begun = crawls.begin(database, "free", "sitegraph", [], {}, 0.0)
    with database.write() as connection:
        workers.leave(connection, begun.worker_id, 0.0)
        workers.finish(connection, begun.worker_id, 0.0)
        first = int(connection.execute(select(func.coalesce(func.max(site.c.id), 0))).scalar_one())
        insert = _SITES[connection.dialect.name].replace("SELECT i,", f"SELECT {first} + i,")
        connection.execute(text(insert), {"crawl": begun.id, "sites": sites})
        connection.execute(update(crawl).values(finisher_id=None))
    if not database.is_sqlite:
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("ANALYZE")
    database.close()
    return begun.id


def _time_rounds(url: str, crawl_id: int, number: int, budget: int) -> tuple[list[float], float]:
    """Return the seconds of rounds of *number* busy workers, one after the other, and the CPU seconds of each."""
    database = Database(url)
    with database.write() as connection:
        connection.execute(update(worker).values(state="left"))
        now = workers.server_time(connection)
        team = [workers.join(connection, crawl_id, "bench", 0, "0", now) for _ in range(number)]
        some = connection.execute(select(site.c.id).where(site.c.crawl_id == crawl_id).limit(number)).scalars().all()
    known: dict[int, dict[int, int]] = {me: {} for me in team}
    seconds = []
    cpu_s = 0.0
    for turn in range(ROUNDS + number):
        me = team[turn % number]
        if budget:
            write_rows(database, *(PullRow(some[turn % number], 1, 1.0, now, me) for _ in range(PULLS)))
        report = Report(me, crawl_id, budget, best_index=1.0, after_pulls=known[me] if budget else None)
        began, cpu_began = time.perf_counter(), time.thread_time()
        with database.write() as connection:
            now = workers.server_time(connection)
            workers.fence(connection, me, now, pulls=PULLS if budget else 0)
            workers.lose_dead(connection, crawl_id, now, None, lambda one: False, me, silent_s=3.0)
            learnt = workers.exchange(connection, report, now)
        if turn >= number:
            seconds.append(time.perf_counter() - began)
            cpu_s += time.thread_time() - cpu_began
        known[me] = learnt.last_pulls
    database.close()
    return seconds, cpu_s / len(seconds)


def _in_turn(url: str, crawl_id: int, number: int) -> None:
    """Let *number* workers join, exchange reports, die and claim the sites of dead ones, one after the other."""
    database = Database(url)
    seconds: dict[str, list[float]] = defaultdict(list)
    team: list[int] = []

    @contextmanager
    def timed(what: str) -> Iterator[tuple[Connection, float]]:
        began = time.perf_counter()
        with database.write() as connection:
            yield connection, workers.server_time(connection)
        seconds[what].append(time.perf_counter() - began)

    def rounds(what: str, members: list[int], wanted_sites: int = 0) -> int:
        claimed = 0
        for me in members:
            with timed(what) as (connection, now):
                workers.fence(connection, me, now)
                is_hungry = bool(wanted_sites)
                report = Report(me, crawl_id, wanted_sites=wanted_sites, is_hungry=is_hungry, best_index=1.0)
                claimed += len(workers.exchange(connection, report, now).claimed)
        return claimed

    for others in range(number):
        with timed("joins and claims its part") as (connection, now):
            team.append(workers.join(connection, crawl_id, "bench", 0, "0", now))
            workers.claim_share(connection, crawl_id, team[-1], others, number)
    rounds("exchanges reports", team)
    dead = set(team[: max(1, number // 100)])
    alive = team[len(dead) :]
    with timed("declares one in a hundred lost") as (connection, now):
        workers.lose_dead(connection, crawl_id, now, None, dead.__contains__, alive[0])
    taken = rounds("claims 1,000 of their sites", alive[:10], wanted_sites=1000)
    rounds("exchanges reports while sites are free", alive)
    kind = database.engine.dialect.name
    for what, each in seconds.items():
        print(f"{kind}: one of {number} workers {what} in {statistics.median(each) * 1e3:,.1f} ms", flush=True)
    print(f"{kind}: all join in {sum(seconds['joins and claims its part']):,.1f} s, one after the other")
    print(f"{kind}: ten workers claimed {taken:,} sites of the dead")
    database.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scale.claims", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sites", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--stores", default="sqlite,postgresql")
    parser.add_argument("--rounds", default="1,8,64", help="numbers of workers whose rounds are timed")
    parser.add_argument("--in-turn", action="store_true", help="one process does what all workers do")
    chosen = parser.parse_args()
    for kind in chosen.stores.split(","):
        with some_store(kind) as url:
            if chosen.in_turn:
                _in_turn(url, fill(url, chosen.sites), chosen.workers)
                continue
            if chosen.workers > 1:
                began = time.perf_counter()
                database, begun, lock = _begin(url, chosen.sites, chosen.workers)
                print(f"{kind}: a worker begins the crawl in {time.perf_counter() - began:.2f} s", flush=True)
                seconds, cpu_s, got = _together(_start, chosen.workers - 1, url, chosen.sites, chosen.workers)
                held = len(begun.sites) + sum(each for _, each in got)
                others = chosen.workers - 1
                print(f"{kind}: {others} more join in {seconds:.2f} s, and hold all {held:,} sites with it", flush=True)
                lock.release()
                database.close()
            crawl_id = fill(url, chosen.sites)
            seconds, cpu_s, got = _together(_take, chosen.workers, url, crawl_id, chosen.sites)
            taken = sum(number for number, _ in got)
            rounds = [each for _, times in got for each in times]
            print(
                f"{kind}: {chosen.workers} workers claim {taken:,} free sites in {len(rounds)} "
                f"rounds and {seconds:.2f} s ({cpu_s:.1f} s of their processors); a round takes "
                f"{statistics.median(rounds) * 1e3:.1f} ms",
                flush=True,
            )
            for number in map(int, chosen.rounds.split(",")):
                for budget in (0, BUDGET):
                    timed, cpu_s = _time_rounds(url, crawl_id, number, budget)
                    print(
                        f"{kind}: a round of one of {number} workers {'with' if budget else 'without'} a budget takes "
                        f"{statistics.median(timed) * 1e3:.1f} ms, {cpu_s * 1e3:.1f} ms of the worker's processor",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
