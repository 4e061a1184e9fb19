"""Files and deletions of the panel with a large store: rows a second, memory, and what others notice meanwhile.

    python -m bench.scale.panel_files FILE [--rows 2000000] [--only REGEX]

*FILE* is a store of bench.scale.panel, of which a panel of its own serves a copy. Every kind of file is downloaded, at
most so many *rows* of each; *memory* is by how much the panel grew meanwhile at most. Then the links of a page are
deleted as the panel does it: those that a filter shows, and a whole site. Meanwhile a visitor loads the list of crawls
and a table five times a second, and somebody else writes to the store fifty times a second; printed are the percentiles
of the times, in milliseconds, that they wait: *loads* and *locked*.
"""

from __future__ import annotations

import argparse
import html
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2 as httpx
import numpy as np
from sqlalchemy import text

from bench.running import ROOT
from crawlers.storage.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

START_S = 60.0
FILES = (
    *(f"/crawls/1/reports/external-links.{ending}" for ending in ("csv", "jsonl", "parquet")),
    "/crawls/1/reports/pages.csv",
    "/crawls/1/reports/internal-links.csv",
    "/crawls/1/reports/internal-links.csv?text=777",
    "/crawls/1/reports/duplicates.csv",
    "/crawls/2/reports/in-sitemap-only.csv",
    "/crawls/3/reports/documents.csv",
    "/crawls/2/compare/pages.csv?with=1",
    "/crawls/3/compare/links.csv?with=2",
    "/crawls/3/compare/changes.gexf?with=2&site=http://s7.test",
    "/crawls/1/graph/full.gexf?graph=http://s7.test",
    "/crawls/1/graph/picture.svg?graph=http://s7.test",
    "/sites.csv",
)
VISITED = ("/", "/crawls/2/reports/pages")
LOAD_EVERY_S, WRITE_EVERY_S = 0.2, 0.02
LINKS = "/crawls/1/reports/{}/delete"
SITE = "/sites/8/delete"
FIELD = r'name="{}" value="([^"]*)"'


class Panel:
    """A panel of the store in *folder*, in a process of its own."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.origin = f"http://127.0.0.1:{port}"
        environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "crawlers.settings", "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "scrapy", "web", "--port", str(port)]
        self._process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
        self._status = Path(f"/proc/{self._process.pid}/status")
        deadline = time.monotonic() + START_S
        while True:
            try:
                httpx.get(f"{self.origin}/start")
                return
            except httpx.TransportError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def client(self) -> httpx.Client:
        """Return a client without compression, whose patience does not end."""
        headers = {"accept-encoding": "identity", "origin": self.origin}
        return httpx.Client(base_url=self.origin, headers=headers, timeout=None)

    def memory_mib(self, name: str) -> float:
        """Return a value of its memory: VmRSS, or the highest one so far, VmHWM."""
        found = re.search(rf"{name}:\s+(\d+) kB", self._status.read_text())
        assert found is not None
        return int(found[1]) / 1024

    def forget_peak(self) -> None:
        """Let the highest value be the one of now; needs root, or a process of one's own."""
        self._status.with_name("clear_refs").write_text("5")

    def end(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait()


@contextmanager
def others(panel: Panel, store: Path) -> Iterator[dict[str, list[float]]]:
    """Let others load pages and write to the store during the block; yields the milliseconds that each waited."""
    waited: dict[str, list[float]] = {"loads": [], "locked": []}
    is_over = threading.Event()
    database = Database(f"sqlite:///{store}")

    def visit() -> None:
        with panel.client() as client:
            while not is_over.wait(LOAD_EVERY_S):
                for path in VISITED:
                    began = time.perf_counter()
                    client.get(path).raise_for_status()
                    waited["loads"].append(1000 * (time.perf_counter() - began))

    def write() -> None:
        while not is_over.wait(WRITE_EVERY_S):
            began = time.perf_counter()
            with database.write() as connection:
                waited["locked"].append(1000 * (time.perf_counter() - began))
                connection.execute(text("UPDATE worker SET beat_at = beat_at + 1 WHERE id = 5"))

    threads = [threading.Thread(target=one) for one in (visit, write)]
    for thread in threads:
        thread.start()
    try:
        yield waited
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
        database.close()


def download(client: httpx.Client, path: str, most: int) -> int:
    """Download a file, or the first rows of it; return the number of its lines, or of its bytes if it has none."""
    lines = size = 0
    with client.stream("GET", path) as response:
        if response.status_code != httpx.codes.OK:
            raise SystemExit(f"{path}: {response.status_code} {response.read().decode()[-600:]}")
        for part in response.iter_raw():
            lines += part.count(b"\n")
            size += len(part)
            if lines > most:
                break
    return lines if not path.partition("?")[0].endswith(("parquet", "gexf", "svg")) else size


def delete_links(client: httpx.Client, report: str) -> int:
    """Delete the links of one site, as the page does it, which goes on by itself; return their number."""
    path = LINKS.format(report)
    shown = client.get(path, params={"site": "s7.test"}).text
    form = {"site": "s7.test", "all": "1", "csrf": _field(shown, "csrf")}
    while True:
        response = client.post(path, data=form)
        response.raise_for_status()
        if not (after := _field(response.text, "after")):
            return int(re.sub(r"\D", "", re.search(r'role="status">([^<]*) links? (was|were)', response.text)[1]))
        form |= {"after": after, "deleted": _field(response.text, "deleted")}


def delete_site(client: httpx.Client, store: Path) -> int:
    """Delete a site with its pages and links; return the number of rows that the store has lost."""
    before = _rows(store)
    client.get(SITE)
    form = {"csrf": _field(client.get("/start").text, "csrf")}
    response = client.post(SITE, data=form)
    if response.status_code != httpx.codes.SEE_OTHER:
        raise SystemExit(f"{SITE}: {response.status_code} {response.text[-600:]}")
    return before - _rows(store)


def _rows(store: Path) -> int:
    database = Database(f"sqlite:///{store}")
    with database.read() as connection:
        tables = ("page", "link", "external_link", "pull", "sitemap_url", "document", "importance", "relevance")
        number = sum(int(connection.execute(text(f"SELECT count(*) FROM {one}")).scalar_one()) for one in tables)
    database.close()
    return number


def _field(page: str, name: str) -> str:
    found = re.search(FIELD.format(name), page)
    return html.unescape(found[1]) if found else ""


def _percentiles(waited: list[float]) -> str:
    return f"{np.percentile(waited, 50):5.0f} {np.percentile(waited, 95):5.0f} {max(waited):5.0f}" if waited else "-"


def measured(panel: Panel, store: Path, what: str, unit: str, run: Callable[[], int]) -> None:
    """Run something, and print how long it took, and what it meant to others."""
    panel.forget_peak()
    before = panel.memory_mib("VmRSS")
    with others(panel, store) as waited:
        began = time.perf_counter()
        number = run()
        seconds = time.perf_counter() - began
        time.sleep(LOAD_EVERY_S)
    grown = panel.memory_mib("VmHWM") - before
    print(
        f"{what:58} {number:11,} {unit:5} {seconds:6.1f} s {number / seconds:11,.0f} a s, memory {grown:4.0f} MiB, "
        f"loads {_percentiles(waited['loads'])}, locked {_percentiles(waited['locked'])}",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path, metavar="FILE")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--only", default="", help="addresses that match this regular expression")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        store = Path(name) / "crawl.sqlite"
        shutil.copy(options.store, store)
        panel = Panel(Path(name))
        try:
            with panel.client() as client:
                for path in FILES:
                    if re.search(options.only, path):
                        is_binary = path.partition("?")[0].endswith(("parquet", "gexf", "svg"))
                        unit = "bytes" if is_binary else "rows"
                        measured(panel, store, path, unit, lambda path=path: download(client, path, options.rows))
                for report in ("internal-links", "external-links"):
                    if re.search(options.only, LINKS.format(report)):
                        what = f"delete {report} of a site"
                        measured(panel, store, what, "rows", lambda report=report: delete_links(client, report))
                if re.search(options.only, SITE):
                    measured(panel, store, "delete a site", "rows", lambda: delete_site(client, store))
        finally:
            panel.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
