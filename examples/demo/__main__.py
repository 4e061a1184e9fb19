"""The first crawls of a new user: serves the demo webs, crawls them in four ways, and reports the results.

python -m examples.demo [FOLDER]      (make demo)
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.inputs.program import suggested
from crawlers.store.database import Database
from examples.demo.exploring import explore
from examples.demo.report import closing_words, report
from examples.demo.running import crawl, hosts_lines, shown
from examples.server import serve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HARVEST = {"PAGE_BUDGET": "200"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.demo",
        description="Serves a small web on this machine, crawls it in four ways, which takes a minute, and shows the "
        "results. Nothing else is requested.",
    )
    parser.add_argument("folder", nargs="?", default="demo", help="where to write (default: %(default)s)")
    folder = Path(parser.parse_args(arguments).folder).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    with serve(ports_file=folder / "ports.json") as web:
        hosts = folder / "hosts.txt"
        hosts.write_text(hosts_lines(web.origins), "utf-8")
        print(f"A small web of {len(web.origins)} sites is served on this machine. It is crawled now:\n")
        print(f"    cd {shown(folder)}")
        command = "scrapy crawl sitegraph -a hosts=hosts.txt -s LINK_TAGS=a,area,frame,iframe,meta"
        print(f"    {suggested(command)}\n", flush=True)
        status = crawl(folder, "sitegraph", "hosts=hosts.txt", GRAPH_FORMATS="gexf,csv")
        status = status or report_crawl(folder, web.origins) or harvest(folder)
    status = status or explore(folder / "town")
    if status:
        print(f"A crawl failed; see crawl.log in {shown(folder)} or its subfolders.", file=sys.stderr)
    else:
        print(closing_words(folder, next(iter(web.urls.values()))))
    return status


def report_crawl(folder: Path, origins: Mapping[str, str]) -> int:
    """Report the results of the crawl; return the exit status."""
    database = Database(f"sqlite:///{folder / 'crawl.sqlite'}", create=False)
    try:
        print(report(database, {origin: name for name, origin in origins.items()}))
    finally:
        database.close()
    return 0


def harvest(folder: Path) -> int:
    """Harvest external links from the same sites, in a subfolder; return the exit status."""
    given = " ".join(f"-s {name}={value}" for name, value in HARVEST.items())
    print("\nNow external links are harvested from the same sites, with 200 pages in all:\n")
    inside = folder / "harvest"
    print(suggested(f"    cd {shown(inside)}\n    scrapy crawl extlinks -a hosts=../hosts.txt {given}\n"), flush=True)
    inside.mkdir(exist_ok=True)
    return crawl(inside, "extlinks", "hosts=../hosts.txt", **HARVEST)


if __name__ == "__main__":
    sys.exit(main())
