"""The first crawls of a newcomer: serves the demo web, crawls and harvests it, and says what was found and where.

python -m crawlers.demo [FOLDER]      (make demo)
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.demo.report import report
from crawlers.demo.server import ROOT, serve
from crawlers.storage.database import Database

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlers.demo.pages import Site

# The demo web is on this machine and wants no mercy; /busy and /hurried refuse for ever, twice is enough.
SETTINGS = {
    "LINK_TAGS": "a,area,frame,iframe,meta",
    "RETRY_REST_TIMES": "2",
    "DATABASE_URL": "sqlite:///crawl.sqlite",
    "GRAPH_FORMATS": "gexf,csv",
    "LOG_LEVEL": "WARNING",
    "LOG_FILE": "crawl.log",
}
HARVEST = {"RULE": "auto", "ORDER": "groups", "PAGE_BUDGET": "200"}
LIMITS = ";8;;0"  # eight downloads at a time, no limit of levels, no delay


def main() -> int:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "demo").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    with serve(ports_file=folder / "ports.json") as web:
        hosts = folder / "hosts.txt"
        hosts.write_text("".join(f"{origin}{LIMITS}\n" for origin in web.origins.values()), "utf-8")
        print(f"A small web of {len(web.origins)} sites runs on this machine. Now it is crawled:\n")
        print("    scrapy crawl sitegraph -a hosts=hosts.txt -s LINK_TAGS=a,area,frame,iframe,meta\n", flush=True)
        status = crawl(folder, "sitegraph", "hosts.txt") or tell(folder, web.origins) or harvest(folder)
    if status:
        print(f"A crawl failed; crawl.log in {folder} or {folder / 'harvest'} says why.", file=sys.stderr)
    return status


def tell(folder: Path, origins: Mapping[Site, str]) -> int:
    """Say what the crawl found; exit status."""
    database = Database(f"sqlite:///{folder / 'crawl.sqlite'}", create=False)
    try:
        print(report(database, folder, {origin: name for name, origin in origins.items()}))
    finally:
        database.close()
    return 0


def harvest(folder: Path) -> int:
    """Look for external links on the same sites, in a folder of its own; exit status."""
    given = " ".join(f"-s {name}={value}" for name, value in HARVEST.items())
    print("\nNow the same sites are harvested: external links, read where they are found, with 200 pages in all:\n")
    print(f"    scrapy crawl extlinks -a hosts=../hosts.txt {given}\n    scrapy lab report\n", flush=True)
    inside = folder / "harvest"
    inside.mkdir(exist_ok=True)
    return crawl(inside, "extlinks", "../hosts.txt", **HARVEST) or scrapy(inside, "lab", "report")


def crawl(folder: Path, spider: str, hosts: str, **settings: str) -> int:
    """Run the crawl in *folder* as a process of its own; its exit status."""
    return scrapy(folder, "crawl", spider, "-a", f"hosts={hosts}", **{**SETTINGS, **settings})


def scrapy(folder: Path, *arguments: str, **settings: str) -> int:
    """Run a command of scrapy in *folder*; its exit status."""
    options = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "crawlers.settings", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "scrapy", *arguments, *options]
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode  # noqa: S603 - our own


if __name__ == "__main__":
    sys.exit(main())
