"""Lets several workers share a broad crawl while they are killed, and adds up the cash in the store after each kill.

    python -m bench.quality.shared_cash [--workers 4] [--kills 20] [--pages 4000] [--url URL] [--seed 1]

The sum over pages, messages and the virtual page must be 1. *URL* is that of an empty PostgreSQL database; without it
the store is a file of SQLite. Exit status 1 if more than 1e-9 is missing or too much, if a pull of the budget is
missing or double, or if a worker fails.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from contextlib import closing
from pathlib import Path

from crawlers.storage.database import Database
from tests.support.crew import Crew
from tests.support.running import Crawl
from tests.support.sites.town import Town
from tests.support.workers_of_web import stored_cash

SETTINGS = {"SITE_DELAY_SECONDS": 0, "STORE_BATCH_SECONDS": 0.05, "TRAPS_ENABLED": 0, "SCOPE": "all"}
MOST_APART = 1e-9


def missing(crawl: Crawl) -> float:
    """Return how much the cash in the store differs from 1."""
    with closing(Database(crawl.server or f"sqlite:///{crawl.database}")) as database:
        ((crawl_id,),) = crawl.query("SELECT id FROM crawl")
        return abs(stored_cash(database, crawl_id) - 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.quality.shared_cash", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--url", default="")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    began = time.perf_counter()
    settings = {**SETTINGS, "PAGE_BUDGET": options.pages, **({"DATABASE_URL": options.url} if options.url else {})}
    town = Town()
    with town.web, tempfile.TemporaryDirectory() as folder:
        hosts = town.hosts("tagged", "plain")
        with Crawl(Path(folder) / "crawl", hosts, spider="broad", **settings) as crawl:
            crew = Crew(crawl, town, options.workers)
            reach = max(1, 2 * options.pages // (options.kills + 1))
            apart = [missing(crawl) for _ in range(options.kills) if crew.kill_one(rng, reach)]
            ended = crew.wait()
            apart.append(missing(crawl))
            pulls = crawl.query("SELECT count(*) FROM pull")[0][0]
            by_worker = sorted(number for (number,) in crawl.query("SELECT count(*) FROM pull GROUP BY worker_id"))
            found = {
                "workers": options.workers,
                "kills": len(crew.killed),
                "cash_apart": max(apart),
                "pulls": pulls,
                "requests": town.responses.total(),
                "pulls_by_worker": by_worker,
                "messages_left": crawl.query("SELECT count(*) FROM message")[0][0],
                "seconds": round(time.perf_counter() - began),
            }
            print(json.dumps(found))
            failed = [one.log[-2000:] for one in ended if one.status]
            print("".join(failed), end="")
    raise SystemExit(bool(failed) or max(apart) > MOST_APART or pulls != options.pages)


if __name__ == "__main__":
    main()
