"""`python -m bench.surface FOLDER ...`: what users can see, one item a line, to be compared before and after a change.

Commands and their options, settings and their defaults, reports and their columns, files and their columns, tables of
the store, stats, and pages of the panel. The folders are those of `make demo` (demo, demo/harvest, demo/town), whose
crawls give columns and files. Everything is read from outside: the same script reads any version of the program.
"""

from __future__ import annotations

import csv
import json
import re
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import requests
from lxml import html
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRAPY = (sys.executable, "-m", "scrapy")
OURS = ("crawl", "explain", "graph", "lab", "report", "sites", "web", "workers")
_OPTION = re.compile(r"^\s+(-\w(?: \w+)?, )?(--[\w-]+)", re.M)
_SETTING = re.compile(r"^## ([A-Z][A-Z0-9_]+)\n+(Default: .*)", re.M)
_STAT = re.compile(r"^\| `([^`]+)`", re.M)
_NUMBER = re.compile(r"\d+")
MOST_PAGES = 400  # of the panel


def scrapy(folder: Path, *words: str) -> str:
    """Return what the command prints in *folder*."""
    command = [*SCRAPY, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def commands(folder: Path) -> Iterator[str]:
    """Yield the options of each command of ours."""
    with ThreadPoolExecutor(2) as threads:
        for name, text in zip(OURS, threads.map(lambda name: scrapy(folder, name, "-h"), OURS), strict=True):
            for _, option in _OPTION.findall(text.partition("Global Options")[0]):
                yield f"option {name} {option}"


def documented(root: Path) -> Iterator[str]:
    """Yield settings and stats, as the reference lists them."""
    for name, default in _SETTING.findall((root / "docs/reference/settings.md").read_text("utf-8")):
        yield f"setting {name} {default}"
    for name in _STAT.findall((root / "docs/reference/stats.md").read_text("utf-8")):
        yield f"stat {name}"


def reports(folder: Path) -> Iterator[str]:
    """Yield the columns of each report, of each crawl of the store that has it."""
    names = [
        line.split()[0] for line in scrapy(folder, "report").splitlines() if re.match(r"\s*[a-z][a-z-]+\s{2,}", line)
    ]
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as store:
        crawls = [str(number) for (number,) in store.execute("SELECT id FROM crawl ORDER BY id")]
    asked = [(name, crawl) for name in names for crawl in crawls]

    def head(words: tuple[str, str]) -> str:
        name, crawl = words
        text = scrapy(folder, "report", name, "--crawl", crawl, "--format", "csv", "--limit", "1")
        return ",".join(next(csv.reader(text.splitlines()), ()))

    with ThreadPoolExecutor(2) as threads:
        columns = dict.fromkeys(zip((name for name, _ in asked), threads.map(head, asked), strict=True))
    yield from (f"report {name} {head}" for name, head in columns if head)
    yield from (f"report {name}" for name in names)


def files(folder: Path) -> Iterator[str]:
    """Yield the kinds of files of the folder, with the columns of tables and the keys of objects."""
    for path in sorted(folder.rglob("*")):
        name = _NUMBER.sub("N", str(path.relative_to(folder)))
        if path.suffix == ".csv":
            with path.open(newline="", encoding="utf-8") as file:
                yield f"file {name} {','.join(next(csv.reader(file), ()))}"
        elif path.suffix == ".jsonl":
            yield f"file {name} {','.join(json.loads(path.read_text('utf-8').partition(chr(10))[0] or '{}'))}"
        elif path.is_file():
            yield f"file {name}"


def tables(folder: Path) -> Iterator[str]:
    """Yield the tables and columns of the store."""
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as store:
        for (table,) in store.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"):
            columns = [row[1] for row in store.execute(f"PRAGMA table_info({table})")]
            yield f"table {table} {','.join(columns)}"


def panel(folder: Path) -> Iterator[str]:
    """Yield the pages, forms and columns of tables of the panel that its links lead to."""
    with subprocess.Popen(
        [*SCRAPY, "web", "--port", "8099"], cwd=folder, stderr=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            start = next(match[0] for line in process.stdout if (match := re.search(r"http://\S+/", line)))
            with requests.Session() as session:
                retries = Retry(connect=10, backoff_factor=0.1)  # until it listens
                session.mount(start, HTTPAdapter(max_retries=retries))
                yield from _walk(session, start)
        finally:
            process.terminate()


def _walk(session: requests.Session, start: str) -> Iterator[str]:
    waiting, known = [start], {_kind(start)}
    while waiting and len(known) < MOST_PAGES:
        url = waiting.pop(0)
        answer = session.get(url, timeout=60)
        yield f"page {answer.status_code} {_kind(url)}"
        if not answer.headers.get("Content-Type", "").startswith("text/html"):
            continue
        tree = html.fromstring(answer.text)
        yield from (f"form {_kind(urljoin(url, form.get('action') or url))}" for form in tree.iter("form"))
        for head in tree.xpath("//table//th"):
            yield f"column {_kind(url).partition('?')[0]} {' '.join(head.text_content().split())}"
        for link in tree.xpath("//a/@href[starts-with(., '/') or starts-with(., '?')]"):  # not those of crawled pages
            target = urljoin(url, link).partition("#")[0]
            if urlsplit(target).netloc == urlsplit(start).netloc and _kind(target) not in known:
                known.add(_kind(target))
                waiting.append(target)


def _kind(url: str) -> str:
    parts = urlsplit(url)
    names = sorted({word.partition("=")[0] for word in parts.query.split("&") if word})
    return _NUMBER.sub("N", parts.path) + ("?" + "&".join(names) if names else "")


def main() -> None:
    folders = [Path(name).resolve() for name in sys.argv[1:]]
    lines = {*commands(folders[0]), *documented(Path(__file__).resolve().parents[1])}
    for folder in folders:
        lines |= {*reports(folder), *files(folder), *tables(folder), *panel(folder)}
    print("\n".join(sorted(lines)))


if __name__ == "__main__":
    main()
