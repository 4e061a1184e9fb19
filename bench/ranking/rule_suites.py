"""Compares the site rules on real sites whose pages are known: "Real sites" in docs/measurements/bandits.md.

    python -m bench.ranking.rule_suites TRUTH SITE... [--without A,B]
    python -m bench.ranking.rule_suites crawl.sqlite SITE... [--without A,B]

TRUTH/SITE.nodes.csv: url, status, kind, in breadth-first order; TRUTH/SITE.ext.csv: src, url; computed from the
sites' files, independently of the program (see `bench.quality.accuracy`). There the links of a page are in the order of
their URLs; in a full crawl, in that of the document. The yield of a page is its number of external URLs that no earlier
page had.

Prints the results as shares of that of an oracle that reads each site breadth first: for all sites, for all but some,
and for 200 random sets of 6 to 10 sites (mean, deviation, worst set).
"""

from __future__ import annotations

import argparse
import csv
import random
import statistics
from pathlib import Path

from crawlers.algorithms.bandits.reward_kinds import REWARDS
from crawlers.algorithms.bandits.rotting import RAWUCB
from crawlers.algorithms.bandits.site_rules import RULES, RuleOptions
from crawlers.algorithms.simulation.rule_simulation import oracle, simulate
from crawlers.storage.database import Database
from crawlers.storage.queries import crawl_named
from crawlers.storage.yields import site_yields

FIXED_BUDGETS = (500, 1000, 2000)
RANDOM_BUDGETS = (300, 500, 1000, 2000)
SETS, SEED = 200, 7
ALL = {**RULES, "raw-ucb, c = 0.3": lambda options: RAWUCB(0.3)}


def yields(folder: Path, site: str) -> list[int]:
    """Return the number of new external URLs of each page of *site*, in breadth-first order."""
    with (folder / f"{site}.nodes.csv").open() as file:
        pages = [row["url"] for row in csv.DictReader(file) if row["status"] == "200" and row["kind"] == "html"]
    links: dict[str, set[str]] = {}
    with (folder / f"{site}.ext.csv").open() as file:
        for row in csv.DictReader(file):
            links.setdefault(row["src"], set()).add(row["url"])
    seen: set[str] = set()
    found = []
    for url in pages:
        new = links.get(url, set()) - seen
        seen |= new
        found.append(len(new))
    return found


def crawled(store: Path, sites: list[str]) -> dict[str, list[int]]:
    """Return the same for every site of the latest crawl in *store*."""
    database = Database(f"sqlite:///{store}", create=False)
    found = site_yields(database, crawl_named(database, None).id, REWARDS["new_links"])
    database.close()
    by_name = {site.site.partition("://")[2].partition(".")[0]: site.yields for site in found}
    return {site: by_name[site] for site in sites}


def share(rule: str, web: list[list[int]], budget: int, best: int, seed: int = 0) -> float:
    """Return the links that *rule* finds, as a share of those that the oracle finds."""
    run = simulate(ALL[rule](RuleOptions(page_budget=budget, seed=seed)), web, budget)
    return run.found[-1] / best


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("truth", type=Path)
    parser.add_argument("sites", nargs="+")
    parser.add_argument("--without", default="", help="sites that the second set leaves out")
    given = parser.parse_args()
    sites = sorted(given.sites)
    is_store = given.truth.is_file()
    known = crawled(given.truth, sites) if is_store else {site: yields(given.truth, site) for site in sites}
    everything = list(known.values())
    without = [pages for site, pages in known.items() if site not in given.without.split(",")]
    print(f"{'rule':18}" + "".join(f"{f'{len(web)}: {n}':>10}" for web in (everything, without) for n in FIXED_BUDGETS))
    for rule in ALL:
        cells = [share(rule, web, n, oracle(web, n)[-1]) for web in (everything, without) for n in FIXED_BUDGETS]
        print(f"{rule:18}" + "".join(f"{cell:>10.3f}" for cell in cells), flush=True)
    rng = random.Random(SEED)
    sets = [[known[site] for site in rng.sample(list(known), rng.randint(6, 10))] for _ in range(SETS)]
    best = {n: [oracle(web, n)[-1] for web in sets] for n in RANDOM_BUDGETS}
    print(f"\n{SETS} random sets\n{'rule':18}" + "".join(f"{n:>22}" for n in RANDOM_BUDGETS))
    for rule in ALL:
        cells = []
        for n in RANDOM_BUDGETS:
            found = [share(rule, web, n, best[n][seed], seed) for seed, web in enumerate(sets)]
            cells.append(f"{statistics.fmean(found):.3f} ({statistics.pstdev(found):.3f}, {min(found):.3f})")
        print(f"{rule:18}" + "".join(f"{cell:>22}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
