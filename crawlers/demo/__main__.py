"""The first crawl of a newcomer: serves the demo web, crawls it, and says what was found and where.

python -m crawlers.demo [FOLDER]      (make demo)
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from crawlers.demo.report import report
from crawlers.demo.server import ROOT, serve
from crawlers.storage.database import Database

# The demo web is on this machine and wants no mercy; /busy and /hurried refuse for ever, twice is enough.
SETTINGS = {
    "LINK_TAGS": "a,area,frame,iframe,meta",
    "RETRY_REST_TIMES": "2",
    "DATABASE_URL": "sqlite:///crawl.sqlite",
    "GRAPH_FORMATS": "gexf,csv",
    "LOG_LEVEL": "WARNING",
    "LOG_FILE": "crawl.log",
}
LIMITS = ";8;;0"  # eight downloads at a time, no limit of levels, no delay


def main() -> int:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "demo").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    with serve(ports_file=folder / "ports.json") as web:
        hosts = folder / "hosts.txt"
        hosts.write_text("".join(f"{origin}{LIMITS}\n" for origin in web.origins.values()), "utf-8")
        print(f"A small web of {len(web.origins)} sites runs on this machine. Now it is crawled:\n")
        print("    scrapy crawl sitegraph -a hosts=hosts.txt -s LINK_TAGS=a,area,frame,iframe,meta\n", flush=True)
        status = crawl(folder)
    if status:
        print(f"The crawl failed; {folder / 'crawl.log'} says why.", file=sys.stderr)
        return status
    database = Database(f"sqlite:///{folder / 'crawl.sqlite'}", create=False)
    try:
        names = {origin: name for name, origin in web.origins.items()}
        print(report(database, folder, names))
    finally:
        database.close()
    return 0


def crawl(folder: Path) -> int:
    """Run the crawl in *folder* as a process of its own; its exit status."""
    options = [part for name, value in SETTINGS.items() for part in ("-s", f"{name}={value}")]
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "crawlers.settings", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "scrapy", "crawl", "sitegraph", "-a", "hosts=hosts.txt", *options]
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode  # noqa: S603 - our own


if __name__ == "__main__":
    sys.exit(main())
