"""Crawls a random web of failing servers, with kills, and checks what the servers saw and what the crawl found.

    python -m bench.durability.frontier [--kills 30] [--pages 2000] [--hosts 20] [--seed 1]

For each of 1, 16 and 64 downloads at a time, a crawl is killed (kill -9) when the servers have received a certain
number of requests, again and again. Then every page that can be reached must have been requested, the delays and the
limits of parallel requests of all hosts kept, over restarts too, requests repeated only as often as allowed, and the
graphs must be the true ones and those of a crawl that was never killed. Exit status 1 when anything is wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from pathlib import Path

from tests.support.faulty_web import SETTINGS, FaultyWeb, Limits
from tests.support.killing import Killer
from tests.support.running import Crawl

IN_FLIGHT = (1, 16, 64)
SHOWN = 20
SLACK_S = 0.25  # by which the machine may delay a request
PATIENCE_S = 1200.0


def host_limits(hosts: int, seed: int) -> list[Limits]:
    """Return limits of all kinds. The delay of one host in ten is longer than a restart takes."""
    rng = random.Random(seed)
    return [
        Limits(rng.choice((1, 2, 4, 8)), 1.5 if not number % 10 else rng.choice((0.0, 0.05, 0.5)), 0.3 * (number == 5))
        for number in range(hosts)
    ]


def _crawl(crawl: Crawl, web: FaultyWeb, kills: int, seed: int, in_flight: int) -> dict[str, object]:
    web.begin()
    began = time.perf_counter()
    killer = Killer(crawl, web, random.Random(seed), reach=max(1, 2 * web.size // (kills + 1)), kinds={"request": 1})
    killer.kill(kills)
    started_s = [*killer.toll.began_s, time.monotonic()]
    ended = crawl.start(CONCURRENT_REQUESTS=in_flight).wait(PATIENCE_S)
    problems = []
    if ended.status or crawl.states != ["finished"]:
        problems.append(f"the crawl ended with status {ended.status}: {crawl.states} {ended.log[-2000:]}")
    else:
        problems += web.problems(crawl.result, started_s)
    return {
        "in_flight": in_flight, "kills": killer.toll.total, "requests": web.requests, "problems": problems,
        "seconds": round(time.perf_counter() - began),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.durability.frontier", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    limits = host_limits(chosen.hosts, chosen.seed)
    wrong = 0
    files = None
    with (
        tempfile.TemporaryDirectory(prefix="frontier-") as temporary,
        FaultyWeb(chosen.seed, chosen.pages, limits, rest_s=2, slack_s=SLACK_S) as web,
    ):
        print(f"{'in flight':>9} {'kills':>6} {'requests':>9} {'problems':>9} {'seconds':>8}")
        for in_flight, kills in ((16, 0), *((number, chosen.kills) for number in IN_FLIGHT)):
            settings = {**SETTINGS, "CONCURRENT_REQUESTS": in_flight}
            with Crawl(Path(temporary) / f"{in_flight}-{kills}", web.hosts(), **settings) as crawl:
                result = _crawl(crawl, web, kills, chosen.seed, in_flight)
                problems = result["problems"]
                files = files or crawl.files()
                if crawl.files() != files:
                    problems.append("graphs differ from those of the crawl that was not killed")
            result["problems"] = len(problems)
            wrong += len(problems)
            print("{in_flight:>9} {kills:>6} {requests:>9} {problems:>9} {seconds:>8}".format(**result), flush=True)
            for problem in problems[:SHOWN]:
                print("     ", problem)
    print(json.dumps({"seed": chosen.seed, "problems": wrong}))
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
