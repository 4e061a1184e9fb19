"""Kills crawls with kill -9 some hundred times and compares what they store with an undisturbed crawl.

    python -m bench.durability.kills [--kills 500] [--reach 300] [--scale 2] [--seed 1] [--every-transaction]
    python -m bench.durability.kills --hosts hosts.txt [--access-log access.log] [--every 8] [--kills 500] [--seed 1]

Each crawl is killed until it is finished, then the next one begins, until all kills are done. With
`--every-transaction` a small crawl is also killed once at each of its transactions. Exit status 1 when
anything differs.

With `--hosts`, other sites are crawled, and the process groups of their crawls are killed at any instants from start to
end, on average *every* seconds; `--access-log` is that of `bench.durability.workers`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

from bench.durability.workers import PATIENCE_S, Listed
from tests.support.crawl_web import ALL, WatchedWeb
from tests.support.killing import Killer
from tests.support.running import Crawl, add_on, differences

SETTINGS = {"LINK_TAGS": "a,area,frame,iframe,meta", "RETRY_BACKOFF_SECONDS": 0.01}
SHOWN = 20


def _run(crawl: Crawl) -> None:
    ended = crawl.start().wait(PATIENCE_S)
    if ended.status or crawl.states != ["finished"]:
        raise SystemExit(f"the crawl ended with status {ended.status}, {crawl.states}:\n{ended.log}")


def _compare(wanted: Crawl, found: Crawl) -> list[str]:
    problems = differences(wanted.tables(), found.tables())
    left, right = wanted.files(), found.files()
    problems += [f"file {name}" for name in sorted({*left, *right}) if left.get(name) != right.get(name)]
    if found.query("PRAGMA integrity_check") != [("ok",)]:
        problems.append("the database is damaged")
    if found.states != ["finished"]:
        problems.append(f"crawls: {found.states}")
    return problems


def _at_random(folder: Path, web: WatchedWeb, kills: int, reach: int, rng: random.Random) -> dict[str, object]:
    """Crawls killed at moments of their progress, all kinds of `tests.support.killing`."""
    with Crawl(folder / "undisturbed", web.hosts(), **SETTINGS) as whole:
        _run(whole)
        once = web.requests
        print(f"undisturbed: {whole.stored} URLs settled, {once} requests")
        print(f"{'crawl':>5} {'kills':>6} {'runs':>5} {'requests again':>15} {'differences':>12} {'seconds':>8}")
        done: Counter[str] = Counter()
        again, runs, crawls, problems = 0, 0, 0, []
        began = time.perf_counter()
        while done.total() < kills:
            web.counts.clear()
            with Crawl(folder / f"crawl{crawls + 1}", web.hosts(), **SETTINGS) as crawl:
                killer = Killer(crawl, web, rng, reach)
                killer.kill(kills - done.total())
                web.on_request = None
                runs += killer.toll.runs
                if "finished" not in crawl.states:
                    _run(crawl)
                    runs += 1
                found = _compare(whole, crawl)
            done += killer.toll.kills
            crawls += 1
            again += web.requests - once
            problems += found
            print(
                f"{crawls:>5} {killer.toll.total:>6} {killer.toll.runs:>5} {web.requests - once:>15} "
                f"{len(found):>12} {time.perf_counter() - began:>8.0f}",
                flush=True,
            )
            for problem in found[:SHOWN]:
                print("     ", problem)
            if not found:
                shutil.rmtree(crawl.folder)
    return {
        "kills": done.total(), "by_moment": dict(done), "runs": runs, "crawls": crawls,
        "requests_of_one_crawl": once, "requests_again": again,
        "requests_again_per_kill": round(again / max(1, done.total()), 2),
        "differences": len(problems), "seconds": round(time.perf_counter() - began),
    }  # fmt: skip


def _at_instants(folder: Path, web: Listed, kills: int, every_s: float, rng: random.Random) -> dict[str, object]:
    """Crawls of other sites, whose process groups are killed at any instants, every *every_s* seconds on average."""
    with Crawl(folder / "undisturbed", web.lines, **SETTINGS, **web.begin()) as whole:
        began = time.monotonic()
        _run(whole)
        once = web.seen()
        print(f"undisturbed: {whole.stored} URLs settled, {once}, {time.monotonic() - began:.0f} s", flush=True)
        done, again, runs, crawls, problems = 0, 0, 0, 0, []
        while done < kills:
            crawls += 1
            with Crawl(folder / f"crawl{crawls}", web.lines, **SETTINGS, **web.begin()) as crawl:
                while done < kills and "finished" not in crawl.states:
                    run, instant = crawl.start(is_fresh=True), time.monotonic() + rng.uniform(0, 2 * every_s)
                    runs += 1
                    if run.until(lambda instant=instant: time.monotonic() > instant, "an instant"):
                        os.killpg(run.pid, signal.SIGKILL)
                    if (ended := run.wait()).status not in (0, -signal.SIGKILL):
                        raise SystemExit(ended.log)
                    done += ended.status == -signal.SIGKILL
                if "finished" not in crawl.states:
                    _run(crawl)
                    runs += 1
                seen = web.seen()
                again += seen.number - once.number if seen and once else 0
                found = _compare(whole, crawl)
            print(f"crawl {crawls}, kill {done}: {seen}, {len(found)} differences {found[:SHOWN]}", flush=True)
            problems += found
    return {
        "kills": done, "runs": runs, "crawls": crawls, "requests_of_one_crawl": once and once.number,
        "requests_again": again, "files": crawls * len(whole.files()), "differences": len(problems),
    }  # fmt: skip


def _at_every_transaction(folder: Path, web: WatchedWeb) -> dict[str, object]:
    """A fresh small crawl for each of its transactions, killed when that is about to be committed."""
    hosts = web.hosts("corner", "dead")
    settings = {**SETTINGS, "STORE_BATCH_SECONDS": 0.001}
    with Crawl(folder / "small", hosts, **settings) as whole:
        _run(whole)
        problems, commit = [], 0
        while True:
            commit += 1
            with Crawl(folder / f"small{commit}", hosts, **settings) as crawl:
                status = crawl.run(ADDONS=add_on("KillBeforeCommit"), KILL_BEFORE_COMMIT=commit).status
                if status == 0:
                    break
                if status != -signal.SIGKILL:
                    raise SystemExit(f"transaction {commit}: status {status}")
                _run(crawl)
                found = _compare(whole, crawl)
            for problem in found[:SHOWN]:
                print(f"transaction {commit}: {problem}")
            problems += found
    print(f"killed at each of {commit - 1} transactions: {len(problems)} differences")
    return {"transactions": commit - 1, "transaction_differences": len(problems)}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.durability.kills", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--reach", type=int, default=300, help="most requests of one run before it is killed")
    parser.add_argument("--scale", type=int, default=2, help="size of the web")
    parser.add_argument("--hosts", type=Path, help="a file of sites; else the demo web is crawled")
    parser.add_argument("--access-log", type=Path, help="of an nginx in front of these sites")
    parser.add_argument("--every", type=float, default=8.0, help="seconds from start to kill, on average")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every-transaction", action="store_true")
    chosen = parser.parse_args()
    rng = random.Random(chosen.seed)
    with tempfile.TemporaryDirectory(prefix="kills-") as temporary, WatchedWeb(ALL, chosen.scale) as web:
        folder = Path(temporary)
        if chosen.hosts:
            result = _at_instants(folder, Listed(chosen.hosts, chosen.access_log), chosen.kills, chosen.every, rng)
        else:
            result = _at_random(folder, web, chosen.kills, chosen.reach, rng)
        if chosen.every_transaction:
            result |= _at_every_transaction(folder, web)
    print(json.dumps(result))
    raise SystemExit(1 if result["differences"] or result.get("transaction_differences") else 0)


if __name__ == "__main__":
    main()
