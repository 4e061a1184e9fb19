"""Server time of the panel's pages with 10^6 external and 10^7 internal links in the store.

    python -m bench.scale.panel [--store sqlite] [--pages 1250000] [--links 10] [--sites 100] [--listed 10000]
                                [--rounds 10] [--pages-per-s 50] [--folder FOLDER] [--only REGEX] [--cold]

Builds a store with a large crawl and a smaller one of each other mission, unless there is one of an earlier run: the
SQLite file in *FOLDER*, or the database whose URL is given as the store. Then requests all pages of the panel through
its ASGI application (see `panel_walk`): each page, and first pages, next pages, each filter and each order of all
reports. Meanwhile another process stores the results of so many pages a second, in one transaction a second, as the
large crawl does. Prints the median, the 95th percentile and the maximum in milliseconds of each, and at the end the
percentiles of all.

Results that are computed in the background are asked for once; *computed* is how long that took in total. With --cold
nothing is in memory at any request: no result, no connection, and of an SQLite file no page in the cache of the system.
Exit status 1 if the 95th percentile of any page or table exceeds 300 ms, or that of filters and orders 500 ms.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from starlette.testclient import TestClient

from bench.scale.panel_store import LARGE, Size, build, written
from bench.scale.panel_walk import FILTER, ORDER, PAGE, TABLE, asked
from crawlers.store.database import Database
from crawlers.store.reading.queries import crawl_numbered
from crawlers.web.cached_results import CachedResults
from crawlers.web.serving import access_on, panel
from crawlers.web.starting import LocalStarter
from tests.support.services import fresh_database, running_postgresql

if TYPE_CHECKING:
    import httpx2 as httpx
    from starlette.applications import Starlette

    from crawlers.web.panel import Panel

PORT = 8060
NEXT = "next page"
ALLOWED_MS = {PAGE: 300, TABLE: 300, NEXT: 300, FILTER: 500, ORDER: 500}
BEING_COMPUTED = "Being computed since"
ACCEPTED = 202  # the values of a picture are being computed
ALLOWED = (200, ACCEPTED, 303, 404)  # the last one of pages about what this store does not have
LOOK_EVERY_S = 0.05
HEAD_ROWS = 1  # of a table


class Measurement:
    """Asks the panel for pages, and remembers how long each one took."""

    def __init__(self, app: Starlette, rounds: int, *, is_cold: bool) -> None:
        self._app = app
        self._client = TestClient(app, base_url=f"http://127.0.0.1:{PORT}", follow_redirects=False)
        self._rounds = rounds
        self._is_cold = is_cold
        self.spent: dict[str, list[float]] = defaultdict(list)  # milliseconds, by kind

    def ask(self, kind: str, path: str) -> None:
        """Ask for a page as often as there are rounds, and for what follows a table, and print a line for each."""
        spent: dict[str, list[float]] = defaultdict(list)
        rows = 0
        for _ in range(self._rounds):
            following: str | None = path
            for shown in (kind, NEXT, NEXT) if kind == TABLE else (kind,):
                took, text, is_there = self._get(following)
                spent[shown].append(took)
                rows = max(rows, text.count("<tr>") - HEAD_ROWS)
                if not is_there:
                    self._wait_for(following)
                found = re.search(r'rel="next" href="[^"?]*(\?[^"]+)"', text)
                if found is None:
                    break
                following = f"{path}{found[1].replace('&amp;', '&')}"
        for shown, times in spent.items():
            self._tell(shown, path, times, is_empty=kind == TABLE and rows <= 0)

    def _get(self, path: str) -> tuple[float, str, bool]:
        """Return how long a page took, its text, and whether that is not still being computed."""
        if self._is_cold:
            self._forget()
        began = time.perf_counter()
        response = self._client.get(path)
        took = 1000 * (time.perf_counter() - began)
        assert response.status_code in ALLOWED, f"{path}: {response.status_code} {response.text}"
        return took, response.text, _is_there(response)

    def _forget(self) -> None:
        """Forget all results, and what is in memory of the store."""
        shown: Panel = self._app.state.panel
        self._app.state.panel = replace(shown, results=CachedResults())
        shown.database.engine.dispose()
        if shown.database.path is not None:
            with shown.database.path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def _wait_for(self, path: str) -> None:
        """Wait until a result has been computed that was not there yet."""
        began = time.perf_counter()
        while not _is_there(self._client.get(path)):
            time.sleep(LOOK_EVERY_S)
        print(f"{'computed':12} {path:72} {time.perf_counter() - began:5.1f} s", flush=True)

    def _tell(self, kind: str, path: str, spent: list[float], *, is_empty: bool) -> None:
        self.spent[kind] += spent
        notes = "  exceeds" if np.percentile(spent, 95) > ALLOWED_MS[kind] else ""
        notes += "  no rows" if is_empty else ""
        print(f"{kind:12} {path:72} {_percentiles(spent)}{notes}", flush=True)


def _is_there(response: httpx.Response) -> bool:
    return response.status_code != ACCEPTED and BEING_COMPUTED not in response.text


def _percentiles(spent: list[float]) -> str:
    return f"{np.percentile(spent, 50):6.0f} {np.percentile(spent, 95):6.0f} {max(spent):6.0f}"


def main() -> int:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", default="sqlite", help="sqlite, postgresql, or the URL of a database")
    parser.add_argument("--pages", type=int, default=1_250_000)
    parser.add_argument("--links", type=int, default=10, help="internal links of a page that was read")
    parser.add_argument("--sites", type=int, default=100)
    parser.add_argument("--listed", type=int, default=10_000, help="sites in the list of the store")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--pages-per-s", type=int, default=50, help="that a crawl stores meanwhile; 0: no crawl")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--only", default="", help="pages whose addresses match this regular expression")
    parser.add_argument("--cold", action="store_true", help="nothing is in memory at any request")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        urls = {"sqlite": f"sqlite:///{folder / 'panel.sqlite'}"}
        if options.store == "postgresql":
            urls["postgresql"] = stack.enter_context(fresh_database(stack.enter_context(running_postgresql())))
        url = urls.get(options.store, options.store)
        database = Database(url)
        stack.callback(database.close)
        size = Size(options.pages, options.links, options.sites, options.listed)
        if crawl_numbered(database, LARGE) is None:
            build(database, size)
        app = panel(database, access_on("127.0.0.1", PORT, "", []), LocalStarter(database, folder), folder)
        measurement = Measurement(app, options.rounds, is_cold=options.cold)
        print("milliseconds: p50, p95, maximum", flush=True)
        with written(url, options.pages_per_s):
            for kind, path in asked(size):
                if re.search(options.only, path):
                    measurement.ask(kind, path)
        for kind, spent in measurement.spent.items():
            print(f"{'all: ' + kind:85} {_percentiles(spent)}", flush=True)
        p95_ms = {kind: round(np.percentile(spent, 95)) for kind, spent in measurement.spent.items()}
        print(json.dumps({"p95_ms": p95_ms}))
    return any(np.percentile(spent, 95) > ALLOWED_MS[kind] for kind, spent in measurement.spent.items())


if __name__ == "__main__":
    sys.exit(main())
