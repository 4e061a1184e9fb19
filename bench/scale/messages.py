"""Messages between the workers of one crawl: what it costs to send them and to take them up, and to have a backlog.

python -m bench.scale.messages [--sites 1000000] [--workers 200] [--messages 40] [--seconds 5] [--backlog 1000000]

One process does what all workers do, one after the other, without pages: in each simulated second every worker commits
one batch, which sends its messages and takes up those that it read before, and has one round, which reads the next
ones. A tenth of the sites gets about half of the messages. Then the messages of some workers pile up, as if these had
been away: the backlog is inserted, everything is measured again, and those workers take it up. PostgreSQL is started
from the installed programs, with its default settings except that it does not wait for the disk; the time of its
processor is that of the one process that serves the connection, as Linux counts it.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import Integer, cast, func, select, text, update

from bench.scale.claims import fill, some_store
from bench.scale.server_costs import cpu_s
from crawlers.crawl.membership import MOST_MESSAGES
from crawlers.storage import messages, workers
from crawlers.storage.bulk_writer import write_changes
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.database import Database
from crawlers.storage.schema.message_tables import Message, ReceivedLink, TakenMessage, message
from crawlers.storage.schema.tables import site
from crawlers.storage.workers import Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection


AWAY = 0.1  # share of the workers whose messages pile up
SKEW = 3.3  # a tenth of the sites gets half of the messages
_SCATTER = 1_000_003  # prime: popular sites are among those of all workers
_SIZES = {
    "sqlite": "SELECT sum(CASE name WHEN 'message' THEN pgsize END), sum(pgsize), 0, 0, 0 FROM dbstat WHERE name IN "
    "(SELECT name FROM sqlite_master WHERE tbl_name = 'message')",
    "postgresql": """
        SELECT pg_table_size(relid), pg_total_relation_size(relid), n_dead_tup, autovacuum_count, autoanalyze_count
        FROM pg_stat_user_tables WHERE relname = 'message'""",
}
_BACKLOG = {
    "sqlite": """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :number)""",
    "postgresql": "WITH n (i) AS (SELECT generate_series(1, :number))",
}
_INSERT = """
    INSERT INTO message (crawl_id, site_id, source_id, key, url, level, hops, count, value, carried, sent_at)
    {rows} SELECT :crawl, s.id, n.i, n.i, 'http://h.test/a/page/of/a/site/number/' || n.i, 3, 0, 1, 0.0, 0.0, 0.0
    FROM n JOIN away AS s ON s.place = n.i % (SELECT count(*) FROM away)"""


class Team:
    """All workers of a crawl, which one process plays in turn; counts the seconds of what they do."""

    def __init__(self, url: str, sites: int, number: int, sent: int) -> None:
        self.crawl_id = fill(url, sites)
        self.database = Database(url)
        self.kind = self.database.engine.dialect.name
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.cpu_s: dict[str, float] = defaultdict(float)
        self.taken = 0
        self._sites, self._sent = sites, sent
        self._rng = random.Random(1)
        self._read: dict[int, list[Message]] = defaultdict(list)
        self._links = 0
        with self.database.read() as connection:
            lowest = select(func.min(site.c.id)).where(site.c.crawl_id == self.crawl_id)
            first = int(connection.execute(lowest).scalar_one())
        of_crawl = site.c.crawl_id == self.crawl_id
        with self.database.write() as connection:  # at once: `bench.scale.claims` measures what claims cost
            now = workers.server_time(connection)
            self.members = [workers.join(connection, self.crawl_id, "bench", 0, "0", now) for _ in range(number)]
            holder = self.members[0] + (site.c.id - first) * number / sites
            connection.execute(update(site).where(of_crawl).values(worker_id=cast(func.floor(holder), Integer)))
        if self.kind == "postgresql":
            with self.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("VACUUM ANALYZE site")

    @contextmanager
    def _timed(self, what: str, connection: Connection) -> Iterator[None]:
        began, cpu_began = time.perf_counter(), cpu_s(connection)
        yield
        self.seconds[what].append(time.perf_counter() - began)
        self.cpu_s[what] += cpu_s(connection) - cpu_began

    def _new(self) -> Iterator[Message]:
        for _ in range(self._sent):
            place = int(self._sites * self._rng.random() ** SKEW) * _SCATTER % self._sites + 1
            self._links += 1
            path = f"/a/page/of/a/site/number/{self._rng.getrandbits(40)}"
            where = (f"http://h{place}.test", self._links, None, self._rng.getrandbits(62))
            yield Message(self.crawl_id, *where, f"http://h{place}.test{path}", 3, 0, 1, 0.0, 0.0, 0.0, None)

    def second(self, me: int) -> int:
        """Let a worker commit a batch and have a round; return the number of messages that it has read."""
        taken = self._read.pop(me, [])
        links = [ReceivedLink(one.source_id, one.id, one.id) for one in taken]
        gone = [TakenMessage(one.id) for one in taken]
        sent = ChangeSet(*self._new())
        with self.database.write() as connection:
            with self._timed("fence", connection):
                workers.fence(connection, me, workers.server_time(connection))
            with self._timed("send", connection):
                write_changes(connection, sent)
            with self._timed("take", connection):
                write_changes(connection, ChangeSet(*links, *gone))
        with self.database.write() as connection:
            with self._timed("round", connection):
                report = Report(me, self.crawl_id, best_index=1.0)
                workers.exchange(connection, report, workers.server_time(connection))
            with self._timed("read", connection):
                found = messages.of_worker(connection, self.crawl_id, me, MOST_MESSAGES)
        self._read[me] = found
        self.taken += len(taken)
        return len(found)

    def pile_up(self, away: list[int], number: int) -> None:
        """Insert so many messages to the sites of some workers."""
        places = select(site.c.id, (func.row_number().over(order_by=site.c.id) - 1).label("place"))
        places = places.where(site.c.crawl_id == self.crawl_id, site.c.worker_id.in_(away))
        with self.database.write() as connection:
            connection.execute(text("CREATE TEMPORARY TABLE away (place BIGINT PRIMARY KEY, id BIGINT)"))
            rows = connection.execute(places).all()
            connection.execute(
                text("INSERT INTO away VALUES (:place, :id)"), [{"place": place, "id": one} for one, place in rows]
            )
            insert = _INSERT.format(rows="").replace("INSERT INTO", f"{_BACKLOG[self.kind]} INSERT INTO")
            connection.execute(text(insert), {"number": number, "crawl": self.crawl_id})
            connection.execute(text("DROP TABLE away"))

    def analyze(self) -> None:
        with self.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("ANALYZE message")

    def say(self, when: str) -> None:
        """Print what was measured since the last call, and how large the table is."""
        with self.database.read() as connection:
            waiting = connection.execute(select(func.count()).select_from(message)).scalar_one()
            table, whole, dead, vacuums, analyses = connection.execute(text(_SIZES[self.kind])).one()
        rounds = len(self.seconds["read"])
        cpu_ms = {what: used / rounds * 1e3 for what, used in self.cpu_s.items()}
        sent, taken = self._sent * rounds, self.taken
        of_one = f"{self.cpu_s['send'] / sent * 1e6:.0f} a message sent" if sent else "nothing sent"
        if taken:
            of_one += f", {self.cpu_s['take'] / taken * 1e6:.0f} a message taken up, of {taken / rounds:,.0f} a second"
        print(f"{self.kind}, {when}: {waiting:,} messages wait")
        print(f"  processor, ms of one worker and second: {', '.join(f'{w} {ms:.2f}' for w, ms in cpu_ms.items())}")
        print(f"  processor, µs: {of_one}")
        elapsed = (f"{what} {statistics.median(each) * 1e3:.1f}" for what, each in self.seconds.items())
        print(f"  elapsed ms, median: {', '.join(elapsed)}; longest read {max(self.seconds['read']) * 1e3:.0f}")
        print(
            f"  table {table / 1e6:.1f} MB, indexes {(whole - table) / 1e6:.1f} MB, {dead:,} dead rows, "
            f"autovacuum {vacuums} times, statistics {analyses} times",
            flush=True,
        )
        self.seconds.clear()
        self.cpu_s.clear()
        self.taken = 0


def _measure(url: str, chosen: argparse.Namespace) -> None:
    began = time.perf_counter()
    team = Team(url, chosen.sites, chosen.workers, chosen.messages)
    print(
        f"{team.kind}: {chosen.workers} workers hold {chosen.sites:,} sites in {time.perf_counter() - began:.0f} s",
        flush=True,
    )
    for _ in range(chosen.seconds):
        for me in team.members:
            team.second(me)
    team.say(f"after {chosen.seconds} seconds")
    away = team.members[: max(1, round(chosen.workers * AWAY))]
    others = team.members[len(away) :]
    team.pile_up(away, chosen.backlog)
    for what in ("with a backlog", "with a backlog, after ANALYZE"):
        for me in others:
            team.second(me)
        team.say(f"{what}, those who have none of it")
        team.analyze()
    rounds = 0
    while max([team.second(me) for me in away]) == MOST_MESSAGES:
        rounds += 1
    team.say(f"those who take up the backlog, in {rounds} rounds of each")
    for me in team.members:
        team.second(me)
    team.say("when it is taken up")
    team.database.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scale.messages", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sites", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=200)
    parser.add_argument("--messages", type=int, default=40, help="that each worker sends a second")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--backlog", type=int, default=1_000_000)
    parser.add_argument("--stores", default="postgresql")
    chosen = parser.parse_args()
    for kind in chosen.stores.split(","):
        with some_store(kind) as url:
            _measure(url, chosen)


if __name__ == "__main__":
    main()
