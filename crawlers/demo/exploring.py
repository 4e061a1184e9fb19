"""The second half of the demo: the important pages of the town, and its pages about a topic."""

from __future__ import annotations

import csv
from itertools import islice
from typing import TYPE_CHECKING

from crawlers.demo.running import LIMITS, crawl, scrapy
from crawlers.demo.server import serve

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MOST = 10  # pages that are named
BUDGET = "400"  # pages of the broad crawl: twice as many as the town has, so that the important ones are read again
# Where nothing is waited for, all sites answer at once: few requests at a time make it the best pages that are read.
AT_A_TIME = "2"

# With `scope: sites` only those of the roots would be read.
_TOPIC = """\
keywords:
  text encoding: 2
  unicode: 2
  character set: 1
  code page: 1
  code point: 1
  кодировка: 1
  编码: 1
roots:
  - {diary}
  - {gardening}
strategy: anchor  # in a small town all is near: only what links say tells pages apart
scope: [127.0.0.1]
budget: 60
"""


def explore(folder: Path) -> int:
    """Serve the town and crawl it twice, in *folder*, by importance and by topic; exit status."""
    folder.mkdir(exist_ok=True)
    with serve(town=True, ports_file=folder / "ports.json") as town:
        (folder / "hosts.txt").write_text("".join(f"{origin}{LIMITS}\n" for origin in town.origins.values()), "utf-8")
        (folder / "topic.yaml").write_text(_TOPIC.format(**town.urls), "utf-8")
        names = {origin: name for name, origin in town.origins.items()}
        return _find_important(folder, names) or _find_topic(folder, names)


def _find_important(folder: Path, names: Mapping[str, str]) -> int:
    print(f"\nAnother web is a town of {len(names)} sites that link to each other a lot. {BUDGET} of its")
    print("pages are downloaded, new ones and known ones again, always the one that seems most important:\n")
    print(f"    scrapy crawl broad -a hosts=hosts.txt -s PAGE_BUDGET={BUDGET}")
    print(f"    scrapy graph --crawl broad --top {MOST}\n", flush=True)
    status = crawl(folder, "broad", "hosts=hosts.txt", PAGE_BUDGET=BUDGET)
    status = status or scrapy(folder, "graph", "--crawl", "broad", "--top", str(MOST))
    if not status:
        _show(folder / "result" / "top.csv", "importance", names)
    return status


def _find_topic(folder: Path, names: Mapping[str, str]) -> int:
    print("\nAnd 60 pages are read that may be about text encodings, from a diary and a gardener's site on:\n")
    print(f"    scrapy crawl topic -a topic=topic.yaml -s CONCURRENT_REQUESTS={AT_A_TIME}\n", flush=True)
    status = crawl(folder, "topic", "topic=topic.yaml", CONCURRENT_REQUESTS=AT_A_TIME)
    if not status:
        path = folder / "result" / "topic.pages.csv"
        print(f"{path}: the pages, the most similar ones to the topic first")
        _show(path, "similarity", names)
    return status


def _show(table: Path, measure: str, names: Mapping[str, str]) -> None:
    """Print the first rows of the CSV *table*: their *measure*, and which pages they are."""
    print(f"\n  {measure}  site          page")
    with table.open(encoding="utf-8-sig", newline="") as rows:
        for row in islice(csv.DictReader(rows), MOST):
            site = "/".join(row["url"].split("/")[:3])
            print(f"  {float(row[measure]):>10.3f}  {names[site]:<12}  {row['title']}", flush=True)
