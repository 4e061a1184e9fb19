"""The share of a crawl's CPU time that the storage of links takes.

    python -m bench.speed.link_share [--parallel 16] [http://a.example/ …]

Each site is crawled once, in a process of its own, with the default settings and everything stored. The CPU time of the
statements that write links, in the writer's thread, is divided by that of the whole process between the opening and the
closing of the spider, so that other programs on the machine hardly change the share. *At most* adds all commits, of
which links are a part. Without arguments, the site of bench.speed.pages is crawled.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from contextlib import nullcontext
from typing import TYPE_CHECKING

from bench.running import printed_by, run
from bench.speed.website import serve

if TYPE_CHECKING:
    from sqlalchemy import Connection, PoolProxiedConnection

LINK_TABLES = ("link", "external_url", "external_link", "link_context", "bad_link")


def crawl(url: str, parallel: int) -> None:
    """Crawl the site of *url* in this process; print what it cost, and CPU seconds of the writer by table."""
    from scrapy.settings import Settings
    from sqlalchemy.engine.default import DefaultDialect

    from crawlers.spiders.sitegraph import SiteGraphSpider
    from crawlers.storage import bulk_writer, writer
    from crawlers.storage.change_set import ChangeSet
    from crawlers.storage.schema.rows import write_of

    spent_s: Counter[str] = Counter()
    write_changes, commit = bulk_writer.write_changes, DefaultDialect.do_commit

    def timed(connection: Connection, changes: ChangeSet) -> None:
        for kind in sorted(changes, key=bulk_writer._write_order):
            began = time.thread_time()
            write_changes(connection, ChangeSet(*changes[kind]))
            spent_s[write_of(kind).table.name] += time.thread_time() - began

    def timed_commit(self: DefaultDialect, connection: PoolProxiedConnection) -> None:
        began = time.thread_time()
        commit(self, connection)
        spent_s["commits"] += time.thread_time() - began

    writer.write_changes = timed
    DefaultDialect.do_commit = timed_commit  # type: ignore[method-assign]
    settings = Settings()
    settings.setmodule("crawlers.settings", priority="project")
    settings.setdict(
        {"CONCURRENT_REQUESTS": parallel, "LOG_FILE": "crawl.log", "GRAPH_FORMATS": []}, priority="cmdline"
    )
    run(SiteGraphSpider, settings, hosts=f"{url};{parallel};;0")
    print(json.dumps(spent_s))


def report(url: str, parallel: int) -> None:
    """Print the shares for the site of *url*."""
    with tempfile.TemporaryDirectory() as folder:
        module = "bench.speed.link_share"
        cost, spent_s = printed_by(folder, module, "--only", "--parallel", str(parallel), url, lines=2)
    links_s = sum(spent_s.get(table, 0) for table in LINK_TABLES)
    print(
        f"{url:<40} {cost['answers']:>7} {1000 * cost['cpu_s'] / cost['answers']:>7.2f}"
        f" {100 * links_s / cost['cpu_s']:>6.1f} {100 * (links_s + spent_s['commits']) / cost['cpu_s']:>8.1f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sites", nargs="*", metavar="URL")
    parser.add_argument("--parallel", type=int, default=16, help="downloads at a time")
    parser.add_argument("--only", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        crawl(options.sites[0], options.parallel)
        return
    print(f"{'site':<40} {'answers':>7} {'CPU ms':>7} {'links%':>6} {'at most%':>8}")
    with nullcontext(options.sites) if options.sites else serve() as sites:
        for url in [sites] if isinstance(sites, str) else sites:
            report(url, options.parallel)


if __name__ == "__main__":
    main()
