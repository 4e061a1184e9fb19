"""Crawls a set of papers with which nothing was tuned, and counts what each lot of downloads was worth.

    python -m bench.news.papers FOLDER [--papers 6] [--articles 118] [--pages 1400] [--every 200] [NAME=VALUE …]

The papers have the URL schemas of a family of `examples/press`, and publish nothing while they are crawled,
so that each article can be found. They are of different sizes, and are crawled side by side: the second table only has
the downloads of papers until 98 % of their articles are found. NAME=VALUE are settings of the crawl. A download is
useful if it became a document that is an article, and the first of its copies. Prints a line per lot, what was stored
that is no article, and the articles that were read and are missing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote

from bench.news.press import FIXED, ROOT
from bench.news.press_truth import compare, documents
from examples.press.newsroom import DAY_S
from examples.press.server import LoggedRequest, Options, Served, read_log, serve

DAYS = 15.0  # of the archives
GUESSES = 404
ALL = 0.98  # of the articles of a paper
DELAY_S = 0.25  # of each paper: longer than its slowest page takes, so that papers get equal parts of the budget


def crawled(folder: Path, options: Options, settings: dict[str, object]) -> tuple[Served, Options]:
    """Crawl a press of these *options*; its store and log are in *folder*."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with serve(options) as served:
        (folder / "sources.yaml").write_text(served.press.sources(), "utf-8")
        command = [sys.executable, "-m", "scrapy", "crawl", "news", "-a", "sources=sources.yaml"]
        for name, value in settings.items():
            command += ["-s", f"{name}={value}"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "crawlers.settings"}
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return served, options


def kinds(served: Served, urls: list[str], now: float) -> Counter[str]:
    """What *urls* are, by the layouts of their sites; an address that is none is "article"."""
    found: Counter[str] = Counter()
    plans = {plan.origin: plan for plan in served.press.plans}
    for url in urls:
        origin, _, path = url.partition("://")[2].partition("/")
        plan = plans[f"http://{origin}"]
        is_article = served.press.is_article(url, now)
        kind = next(iter(plan.schema.layout.read(f"/{path}")), ("other", {}))[0]
        found["article" if is_article else kind] += 1
    return found


def _print_busy(served: Served, options: Options, log: list[LoggedRequest], stored: list[str], every: int) -> None:
    """The lots of the downloads of papers whose articles are not all found."""
    press, end = served.press, options.press_time(max(one.real_at for one in log))
    own = {host: {one.url for one in press.articles(host, end) if not one.copy_of} for host in press.hosts}
    shown = {unquote(url): press.document(url, end) for url in stored}
    found: set[str] = set()
    useful = []
    for page in log:
        host = page.url.split("/")[2]
        is_page = page.status in (200, 304) and page.content_type.startswith("text/html")
        if not is_page or len(own[host] & found) >= ALL * len(own[host]):
            continue
        document = shown.pop(unquote(page.url), "")
        useful.append(document != "" and document not in found)
        found.add(document)
    print("| downloads of papers with more articles | useful |")
    print("|--:|--:|")
    for begin in range(0, len(useful), every):
        lot = useful[begin : begin + every]
        print(f"| {begin + len(lot):,} | {sum(lot) / len(lot):.1%} |")
    done = [f"{len(own[host] & found) / len(own[host]):.1%}" for host in press.hosts]
    print(f"found of each paper: {', '.join(done)}")


def report(folder: Path, served: Served, options: Options, every: int) -> None:
    log: list[LoggedRequest] = read_log(folder / "asked.tsv")
    stored = documents(folder / "crawl.sqlite")
    outcome = compare(served, options, log, stored, every)
    print("| downloads | useful | found |")
    print("|--:|--:|--:|")
    for point in outcome.points:
        print(f"| {point.pages:,} | {point.useful:.1%} | {point.recall:.1%} |")
    _print_busy(served, options, log, [one.url for one in stored], every)
    end = options.press_time(max(one.real_at for one in log))
    wrong = [one.url for one in stored if not served.press.document(one.url, end)]
    pages = [one for one in log if one.status in (200, 304) and one.content_type.startswith("text/html")]
    shown = {served.press.document(one.url, end) for one in stored}
    missed = {
        one.url
        for one in pages
        if served.press.is_article(one.url, end) and served.press.document(one.url, end) not in shown
    }
    print(f"{outcome.pages:,} pages, {outcome.documents:,} documents, {outcome.recall:.1%} of all articles")
    print(f"stored twice {outcome.doubled}, no articles {outcome.no_articles} {dict(kinds(served, wrong, end))}")
    print(f"read and missed {len(missed)}; requests that found nothing {sum(one.status == GUESSES for one in log)}")
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as store:
        for rule in store.execute("SELECT domain, regex, weight, support FROM url_rule ORDER BY 1, 2"):
            print(*rule)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("settings", nargs="*", help="NAME=VALUE")
    parser.add_argument("--papers", type=int, default=6)
    parser.add_argument("--articles", type=int, default=118, help="mean number of articles of a paper")
    parser.add_argument("--pages", type=int, default=1400, help="PAGE_BUDGET")
    parser.add_argument("--every", type=int, default=200, help="downloads of a lot")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--family", default="gazettes", help="of URL schemas")
    chosen = parser.parse_intermixed_args()  # settings may be last
    folder = chosen.folder.resolve()
    options = Options(
        chosen.seed,
        chosen.papers,
        time.time() - DAY_S,
        time.time(),
        speed=1.0,
        per_day=chosen.articles / DAYS,
        archive_days=DAYS,
        family=chosen.family,
        log=str(folder / "asked.tsv"),
    )
    given = dict(one.split("=", 1) for one in chosen.settings)
    settings = {**FIXED, "SITE_DELAY_SECONDS": DELAY_S, "PAGE_BUDGET": chosen.pages, **given}
    report(folder, *crawled(folder, options, settings), chosen.every)


if __name__ == "__main__":
    main()
