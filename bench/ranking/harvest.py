"""Harvests real sites under every rule, and holds each run against the replay of a full crawl of them.

    python -m bench.ranking.harvest HOSTS STORE [BUDGET [ORDER]]

HOSTS: hosts.txt, one download at a time and no delay (`http://a.example;1;;0`). STORE: the SQLite file of a finished
crawl of those sites, in that order, made with the same settings but without a budget:

    scrapy crawl extlinks -a hosts=HOSTS -s MAX_LEVEL= -s LINK_TAGS=a,area,frame,iframe,meta

One request in flight, so that rules behave as published. `links`: new external links, each site by itself, which is
what the rules are paid for; `of oracle`: of the most that any rule could have found reading each site breadth first;
`replay`: whether the replay chooses the very same pages, which only ORDER=bfs has.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from crawlers.algorithms.bandits.reward_kinds import REWARDS
from crawlers.algorithms.bandits.site_rules import RULES, RuleOptions
from crawlers.algorithms.simulation.rule_simulation import omniscient, oracle
from crawlers.cli.lab.lab_replay import replay
from crawlers.storage.database import Database
from crawlers.storage.queries import crawl_named
from crawlers.storage.yields import SiteYields, site_yields

ROOT = Path(__file__).resolve().parents[2]
CHECKPOINTS = (300, 500, 600, 1000, 2000)
_PULLS = """
    SELECT s.site, g.url, p.reward FROM pull p JOIN site s ON s.id = p.site_id JOIN page g ON g.id = p.page_id
    ORDER BY p.id"""
_FOUND = "SELECT count(DISTINCT u.key), count(DISTINCT u.site) FROM external_url u"

Pull = tuple[str, str, float]  # site, page, reward


def harvest(hosts: Path, budget: int, **settings: object) -> tuple[list[Pull], int, int]:
    """The pulls of a real run, and how many different external URLs and sites it stored."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "scrapy", "crawl", "extlinks", "-a", f"hosts={hosts.resolve()}"]
        fixed = {"PAGE_BUDGET": budget, "CONCURRENT_REQUESTS": 1, "MAX_LEVEL": "", "LOG_LEVEL": "ERROR"}
        for name, value in {**fixed, "LINK_TAGS": "a,area,frame,iframe,meta", **settings}.items():
            command += ["-s", f"{name}={value}"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "crawlers.settings"}
        subprocess.run(command, cwd=folder, env=environment, check=True)
        with closing(sqlite3.connect(Path(folder) / "crawl.sqlite")) as connection:
            urls, sites = connection.execute(_FOUND).fetchone()
            return connection.execute(_PULLS).fetchall(), urls, sites


def replayed(sites: list[SiteYields], urls: dict[int, str], rule: str, budget: int) -> list[tuple[str, str]]:
    """Site and page of each choice of a replay."""
    read = [0] * len(sites)
    pages = []
    for number in replay(sites, rule, RuleOptions(), budget).choices:
        site = sites[number]
        pages.append((site.site, urls[site.page_ids[read[number]]]))
        read[number] += 1
    return pages


def main() -> int:
    hosts, store = Path(sys.argv[1]), sys.argv[2]
    budget = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
    order = sys.argv[4] if len(sys.argv) > 4 else "bfs"
    database = Database(f"sqlite:///{store}", create=False)
    sites = site_yields(database, crawl_named(database, None).id, REWARDS["new_links"])
    database.close()
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        urls = dict(connection.execute("SELECT id, url FROM page"))
    yields = [site.yields for site in sites]
    most, best = oracle(yields, budget), omniscient(yields, budget)
    points = [point for point in CHECKPOINTS if point < budget] + [budget]
    print(f"{len(sites)} sites, {sum(map(len, yields))} downloads, {sum(map(sum, yields))} links")
    print(f"{'rule':14}" + "".join(f"{point:>15}" for point in points) + f"{'URLs':>9}{'sites':>7}  replay")
    different = 0
    for rule in RULES:
        pulls, found, hosts_found = harvest(hosts, budget, RULE=rule, ORDER=order)
        earned = [sum(int(reward) for _, _, reward in pulls[:point]) for point in points]
        cells = "".join(f"{links:>8} ({links / most[at]:.2f})" for links, at in zip(earned, points, strict=True))
        same = "-"
        if order == "bfs":
            is_same = [(site, page) for site, page, _ in pulls] == replayed(sites, urls, rule, budget)
            different += not is_same
            same = "the same pages" if is_same else "OTHER PAGES"
        print(f"{rule:14}{cells}{found:>9}{hosts_found:>7}  {same}")
    for name, curve in (("oracle", most), ("omniscient", best)):
        print(f"{name:14}" + "".join(f"{curve[at]:>8} ({curve[at] / most[at]:.2f})" for at in points))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
