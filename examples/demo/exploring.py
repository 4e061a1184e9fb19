"""The second half of the demo: the most important pages of the town, and its pages about a topic."""

from __future__ import annotations

import csv
from itertools import islice
from typing import TYPE_CHECKING

from crawlers.inputs.program import suggested
from examples.demo.running import crawl, hosts_lines, scrapy, shown
from examples.server import serve

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MOST = 10  # pages listed
BUDGET = "400"  # pages of the broad crawl: twice the size of the town, so that important ones are revisited
# Without delays all sites respond at once: only with few parallel requests are the best pages read first.
AT_A_TIME = "2"

# `scope: sites` would include only the sites of the roots.
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
strategy: anchor  # in a small town all pages are near: only anchor texts distinguish them
scope: [127.0.0.1]
budget: 60
"""


def explore(folder: Path) -> int:
    """Serve the town and crawl it twice, in *folder*, by importance and by topic; return the exit status."""
    folder.mkdir(exist_ok=True)
    with serve(town=True, ports_file=folder / "ports.json") as town:
        (folder / "hosts.txt").write_text(hosts_lines(town.origins), "utf-8")
        (folder / "topic.yaml").write_text(_TOPIC.format(**town.urls), "utf-8")
        names = {origin: name for name, origin in town.origins.items()}
        return _find_important(folder, names) or _find_topic(folder, names)


def _find_important(folder: Path, names: Mapping[str, str]) -> int:
    print(f"\nAnother web is a town of {len(names)} densely linked sites. {BUDGET} pages are downloaded, new")
    print("and known ones, always the one with the highest importance first:\n")
    print(f"    cd {shown(folder)}")
    print(suggested(f"    scrapy crawl broad -a hosts=hosts.txt -s PAGE_BUDGET={BUDGET}"))
    print(suggested(f"    scrapy graph --crawl broad --top {MOST}\n"), flush=True)
    status = crawl(folder, "broad", "hosts=hosts.txt", PAGE_BUDGET=BUDGET)
    status = status or scrapy(folder, "graph", "--crawl", "broad", "--top", str(MOST), prints=False)
    if not status:
        path = folder / "result" / "top.csv"
        print(f"{path.relative_to(folder)}: the {MOST} most important pages")
        _show(path, "importance", names)
    return status


def _find_topic(folder: Path, names: Mapping[str, str]) -> int:
    print("\nNow 60 pages about text encodings are searched for, starting from a diary and a gardener's site:\n")
    print(f"    cd {shown(folder)}")
    print(suggested(f"    scrapy crawl topic -a topic=topic.yaml -s CONCURRENT_REQUESTS={AT_A_TIME}\n"), flush=True)
    status = crawl(folder, "topic", "topic=topic.yaml", CONCURRENT_REQUESTS=AT_A_TIME)
    if not status:
        path = folder / "result" / "topic.pages.csv"
        print(f"{path.relative_to(folder)}: the pages by similarity to the topic")
        _show(path, "similarity", names)
    return status


def _show(table: Path, measure: str, names: Mapping[str, str]) -> None:
    """Print the first rows of the CSV *table*: *measure*, site and page."""
    print(f"\n  {measure}  site          page")
    with table.open(encoding="utf-8-sig", newline="") as rows:
        for row in islice(csv.DictReader(rows), MOST):
            site = "/".join(row["url"].split("/")[:3])
            print(f"  {float(row[measure]):>10.3f}  {names[site]:<12}  {row['title']}", flush=True)
