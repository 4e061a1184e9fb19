"""Harvests real sites with every rule and order, and holds them against what is possible.

    python -m bench.harvest.site_pages FILES CACHE SITES.json...        once
    python -m bench.harvest CACHE --sites A,B,... [--suites 10] [--pairs auto:1.6*bfs,auto*learnt] [--real HOSTS]

One request in flight and no delay, with the rules, the orders and the learner of the program, on the pages of real
sites. The suites are the --sites, and --suites random ones of 12 of all sites in CACHE: see `bench.harvest.suites`.
Rewards are REWARD=new_links. `trivial` divides the greatest number of pages.

For each number of pages: the links found, compared with the first pair (geometric mean over suites, and the worst
suite); the mean share of what an oracle finds that knows all yields but reads each site breadth first; the mean share
of what the best pages have, in any order and whether there are links to them or not. The last line, `best*found`,
always reads the best of the pages to which a link was found.

--real crawls instead the --sites over HTTP: HOSTS is their hosts.txt, with one download at a time and no delay
(`http://a.example;1;;0`). Links found, with both shares; different external URLs, and sites linked to.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, geometric_mean

from bench.harvest.real import harvest
from bench.harvest.suites import BUDGETS, ORDERS, Suite, bounds, job, suites, weights_without
from crawlers.bandits.site_rules import RULES


def crawl_really(folder: Path, suite: Suite, hosts: Path, pairs: list[tuple[str, str]]) -> None:
    """Crawl the sites of *suite* with each pair of rule and order, and print what was found."""
    most, best = bounds(folder, suite)
    print(f"{'':18}" + "".join(f"{budget:>26}" for budget in BUDGETS) + f"{'URLs':>9}{'sites':>7}")
    for rule, order in pairs:
        weights = {"learnt": weights_without(folder, suite.sites), "cold": {}}.get(order)
        named = "learnt" if order == "cold" else order
        pulls, urls, sites = harvest(hosts, BUDGETS[-1], weights, RULE=rule, ORDER=named)
        cells = ""
        for budget in BUDGETS:
            links = sum(int(reward) for _, reward in pulls[:budget])
            cells += f"{f'{links} {links / most[budget]:.3f} {links / best[budget]:.3f}':>26}"
        print(f"{rule + '*' + order:18}{cells}{urls:>9}{sites:>7}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sites", required=True)
    parser.add_argument("--pairs")
    parser.add_argument("--suites", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shuffles", type=int, default=1, help="further orders of the links of each suite")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--detailed", action="store_true")
    parser.add_argument("--real", type=Path, metavar="HOSTS")
    given = parser.parse_args()
    rules = [rule for rule in RULES if rule != "best"]  # `best` compares scores
    every = [f"{rule}*{order}" for rule in rules for order in ORDERS]
    texts = given.pairs.split(",") if given.pairs else every if given.real else ["auto:1.6*bfs", *every]
    pairs = [(rule, order) for rule, _, order in (text.partition("*") for text in texts)]
    made = suites(given.folder, given.sites.split(","), given.suites, given.seed, given.shuffles)
    if given.real:
        crawl_really(given.folder, made[0], given.real, pairs)
        return
    pairs.append(("best", "found"))
    tasks = [(given.folder, suite, pairs) for suite in made]
    with ProcessPoolExecutor(given.processes, get_context("forkserver")) as pool:
        done = list(pool.map(job, tasks))
    print(f"{'':18}" + "".join(f"{budget:>26}" for budget in BUDGETS))
    base = [found[0] for found, *_ in done]
    for at, (rule, order) in enumerate(pairs):
        cells = []
        for b in range(len(BUDGETS)):
            ratios = [found[at][b] / one[b] for (found, *_), one in zip(done, base, strict=True)]
            of_most = fmean(found[at][b] / most[b] for found, most, _, _ in done)
            of_best = fmean(found[at][b] / best[b] for found, _, best, _ in done)
            cells.append(f"{geometric_mean(ratios):.3f} {min(ratios):.2f} {of_most:.3f} {of_best:.3f}")
        cost = sum(times[at] for *_, times in done) / len(done)
        print(f"{rule + '*' + order:18}" + "".join(f"{cell:>26}" for cell in cells) + f"  {cost:.1f} s", flush=True)
    if given.detailed:
        for (_, suite, _), (found, most, best, _) in zip(tasks, done, strict=True):
            print(suite.name, " ".join(suite.sites))
            for (rule, order), row in zip(pairs, found, strict=True):
                print(f"  {rule + '*' + order:18}" + "".join(f"{one:>8}" for one in row))
            print(f"  {'oracle':18}" + "".join(f"{one:>8}" for one in most))
            print(f"  {'best pages':18}" + "".join(f"{one:>8}" for one in best))


if __name__ == "__main__":
    main()
