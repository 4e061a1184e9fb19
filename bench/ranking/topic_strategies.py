"""Compares the strategies of topic crawls on webs that were crawled completely.

    python -m bench.ranking.topic_strategies STORE TOPIC.yaml …

STORE has a topic crawl called "whole" that read everything: strategy: breadth, -s CRAWL=whole. Each TOPIC.yaml
has keywords. Replayed on that web, how many of the pages that each strategy reads first are relevant to each topic?
*Relevant* are the 2.5 % of pages, at least 50, that are most similar to it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import fmean, geometric_mean

from crawlers.missions.topic.edge.lab_of_topics import replayed
from crawlers.missions.topic.vectors import STRATEGIES, DocumentFrequencies
from crawlers.store.database import Database

CRAWL = "whole"
POINTS = (100, 200, 500, 1_000)
RELEVANT, LEAST = 40, 50  # one page in so many, but so many at least
NONE = 1e-3  # added to both shares that are compared, since one may be 0
COMPARED = "anchor"

Shares = dict[str, list[float]]  # by strategy: of relevant pages among the first ones


def measured(database: Database, topic_file: str) -> Shares:
    """Return the shares of pages relevant to a topic."""
    runs = replayed(database, CRAWL, topic_file, list(STRATEGIES), POINTS[-1])
    seen = DocumentFrequencies(terms for _, terms in runs.documents())
    similarities = {page: runs.topic.tf_idf_similarity(terms, seen) for page, terms in runs.documents()}
    ranked = sorted(similarities, key=lambda page: (-similarities[page], page))
    relevant = {page for page in ranked[: max(LEAST, len(ranked) // RELEVANT)] if similarities[page] > 0.0}
    return {
        name: [len(relevant.intersection(read[:point])) / point for point in POINTS] for name, read in runs.read.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", metavar="STORE")
    parser.add_argument("topics", nargs="+", metavar="TOPIC.yaml")
    parser.add_argument("--out", metavar="FILE", help="add the shares to FILE, and sum up all that it has")
    opts = parser.parse_args()
    database = Database(f"sqlite:///{opts.store}", create=False)
    found = []
    for topic in opts.topics:
        found.append(measured(database, topic))
        print(Path(topic).stem, *(f"{name} {' '.join(f'{one:.3f}' for one in its)}" for name, its in found[-1].items()))
    database.close()
    if opts.out:
        with Path(opts.out).open("a+", encoding="utf-8") as file:
            file.writelines(json.dumps(shares) + "\n" for shares in found)
            file.seek(0)
            found = [json.loads(line) for line in file]
    print(f"{len(found)} topics: mean share; compared with {COMPARED}: geometric mean, worst topic")
    for name in STRATEGIES:
        cells = []
        for at, point in enumerate(POINTS):
            ratios = [(one[name][at] + NONE) / (one[COMPARED][at] + NONE) for one in found]
            share = fmean(one[name][at] for one in found)
            cells.append(f"{point}: {share:.3f} ({geometric_mean(ratios):.2f}, {min(ratios):.2f})")
        print(f"{name:8}", "  ".join(cells))


if __name__ == "__main__":
    main()
