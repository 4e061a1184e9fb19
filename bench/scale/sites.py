"""Opens, resumes and takes over a crawl of many sites, without a request, and prints what it costs.

python -m bench.scale.sites [--sites 10000] [--mission sitegraph] [--pages 20] [--unscored 0]
    [--labelled 0] [--url postgresql://…]

The crawl is begun, and some pages of each site are stored: of a news crawl the home page and a feed, which are polled,
articles that it announced, and pages that were read and taught what their URLs mean. Then the crawl is resumed by one
process. At last another one joins it, and claims all sites when the first one leaves. The statements are those of all
threads.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.settings import Settings
from sqlalchemy import Engine, event

from crawlers import settings as defaults
from crawlers.algorithms.news.sources import Source, SourceLeaders
from crawlers.algorithms.ranking.news_scores import BEFORE_ARTICLES
from crawlers.algorithms.ranking.page_scores import GONE, REVISIT
from crawlers.algorithms.urls.keys import url_key
from crawlers.algorithms.urls.scope import Scope
from crawlers.crawl.news.news_opening import known_feeds, open_news_policy
from crawlers.crawl.policy import CrawlPolicy
from crawlers.crawl.running_crawl import Crawl
from crawlers.crawl.spec import CrawlSpec
from crawlers.inputs.crawl_command import CrawlCommand, CrawlOrigin
from crawlers.inputs.news_settings import news_options
from crawlers.items import FEED, HOME, SiteLimits, State
from crawlers.storage.bulk_writer import write_changes
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.news.document_keys import DocumentKeys
from crawlers.storage.reserved_ids import reserve
from crawlers.storage.schema.news_tables import FeedItemRow, PageLabelRow, PollRow
from crawlers.storage.schema.score_tables import NewsScoreRow
from crawlers.storage.schema.tables import NewPage, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlers.crawl.control import CrawlControl
    from crawlers.crawl.session import CrawlSession

NEWS, SITEGRAPH = "news", "sitegraph"
BATCH = 500  # sites whose pages are written at once
WAITING = 0.5  # of the articles
POLLED = {"/": HOME, "/feed": FEED}


async def _nowhere(*_: object) -> str:
    return "is not measured"


class _Stats:
    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def inc_value(self, key: str, count: int = 1) -> None:
        self._counts[key] += count


def _site(number: int) -> str:
    return f"http://h{number}.test"


def _open(url: str, mission: str, sites: int) -> Crawl:
    settings = Settings()
    settings.setmodule(defaults)
    own = {"DATABASE_URL": url, "COMMON_LOG_FILE": "", "ERROR_LOG_FILE": "", "SITE_DELAY_SECONDS": 0.0}
    if mission == NEWS:
        own |= {"ORDER": "fit*opic"}
    settings.update(own, priority="cmdline")
    limits = [SiteLimits(_site(number)) for number in range(sites)]
    spec, open_policy = CrawlSpec(mission, limits, can_be_shared=True), lambda session, control: CrawlPolicy()
    if mission == NEWS:
        sources = [Source(one, feeds=(f"{one.site}/feed",)) for one in limits]
        scope = Scope.of_hosts({source.domain for source in sources}, [one.site for one in limits])
        further: dict[str, Any] = {"scope": scope, "start_slot": BEFORE_ARTICLES}
        further |= {"roots": tuple(known_feeds(sources)), "leader_of": SourceLeaders(sources).of}
        spec = CrawlSpec(mission, limits, can_be_shared=True, **further)

        def open_policy(session: CrawlSession, control: CrawlControl) -> CrawlPolicy:
            keys = DocumentKeys(session.database, session.writer)
            parts = (session.database, session.row.id, session.writer, session.frontier, keys)
            return open_news_policy(*parts, sources, scope, news_options(settings), _nowhere)

    return Crawl(
        *(settings, spec, open_policy, _Stats(), time.time),
        **{"stop": lambda reason: None, "wake": lambda: None, "origin": CrawlOrigin({}, CrawlCommand("bench", {}, {}))},
    )


def _fill(crawl: Crawl, mission: str, pages: int, unscored: int, labelled: int) -> None:
    """Store *pages* of each site, beside those with which it began.

    Of a news crawl, *unscored* pages wait that had been given up, as those of a host that did not respond.
    """
    crawl.session.writer.flush()
    database, now = crawl.session.database, time.time()
    rows = crawl.sites.rows
    with database.read() as connection:
        begun: dict[int, list[tuple[int, str]]] = {}
        for number, site_id, url in connection.execute(
            page.select().with_only_columns(page.c.id, page.c.site_id, page.c.url)
        ):
            begun.setdefault(site_id, []).append((number, url))
    for first in range(0, len(rows), BATCH):
        some, changes = rows[first : first + BATCH], ChangeSet()
        with database.write() as connection:
            ids = iter(reserve(connection, page.c.id, (pages + labelled) * len(some)))
            for row in some:
                _add_pages(changes, row.id, row.site, [next(ids) for _ in range(pages)], now)
                if mission == NEWS:
                    _add_news(changes, row.id, row.site, dict(begun[row.id]), now, unscored)
                    _add_labelled(changes, row.id, row.site, [next(ids) for _ in range(labelled)], now)
            if mission == NEWS:  # the pages with which the crawl began were read
                read = page.update().where(page.c.site_id.in_([row.id for row in some]))
                connection.execute(read.values(state=int(State.DONE), fetched_at=now))
            write_changes(connection, changes)


def _add_pages(changes: ChangeSet, site_id: int, site: str, ids: list[int], now: float) -> None:
    for place, number in enumerate(ids):
        url = f"{site}/story-{place}.html"
        state = State.WAITING if place < WAITING * len(ids) else State.DONE
        changes.add(
            NewPage(number, site_id, url_key(url), url, 0, 1, 0, 0.0, int(state), None, None, None, now, now, 0)
        )


def _add_news(changes: ChangeSet, site_id: int, site: str, begun: dict[int, str], now: float, unscored: int) -> None:
    """Let the first pages of a site be polled, of which one is a feed that announced the others."""
    polled = {url.removeprefix(site): number for number, url in begun.items()}
    for path, kind in POLLED.items():
        number = polled[path]
        changes.add(PollRow(number, site_id, kind, now + 3600.0, now, 1, 0, 0, None, "[0, 0.0, 1, null]", None))
        changes.add(NewsScoreRow(number, site_id, REVISIT, 0.0, *_record()))
    for row in changes[NewPage]:
        if row.site_id == site_id:
            changes.add(FeedItemRow(polled["/feed"], row.key, now, now, "A story"))
            queue = 0 if row.state == State.WAITING and unscored <= 0 else GONE
            unscored -= row.state == State.WAITING
            changes.add(NewsScoreRow(row.id, site_id, queue, 0.0, *_record()))


def _add_labelled(changes: ChangeSet, site_id: int, site: str, ids: list[int], now: float) -> None:
    """Add pages that were read: every other one is an article, the others are lists."""
    for place, number in enumerate(ids):
        is_list = place % 2 == 1
        url = f"{site}/tag/t{place}" if is_list else f"{site}/news/{place}-a-story-about-{place}.html"
        state = int(State.DONE)
        changes.add(NewPage(number, site_id, url_key(url), url, 0, 1, 0, 0.0, state, None, None, None, now, now, 0))
        changes.add(PageLabelRow(number, site_id, -3.5 if is_list else 3.0, now + place, 2 if is_list else None))


def _record() -> tuple[float, ...]:
    return (0.0,) * (len(NewsScoreRow._fields) - 4)


@contextmanager
def _timed(what: str) -> Iterator[None]:
    statements = 0

    def count(*_: object) -> None:
        nonlocal statements
        statements += 1

    event.listen(Engine, "before_cursor_execute", count)
    began, cpu = time.perf_counter(), time.process_time()
    yield
    seconds, cpu_s = time.perf_counter() - began, time.process_time() - cpu
    event.remove(Engine, "before_cursor_execute", count)
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{what}: {seconds:.1f} s, {cpu_s:.1f} s of CPU time, {statements:,} statements, {peak_mib} MiB", flush=True)


def _take_over(crawl: Crawl, sites: int) -> float:
    """Claim and open all sites; return the longest time in seconds for which the reactor was busy."""
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0)
            longest = max(longest, time.perf_counter() - before)

    async def open_all() -> None:
        watching = asyncio.create_task(watch())
        while len(crawl.sites.rows) < sites:
            await crawl.round()
        watching.cancel()

    asyncio.run(open_all())
    return longest


def measure(url: str, mission: str, sites: int, pages: int, unscored: int, labelled: int) -> None:
    """Print the costs on an empty database."""
    with _timed("begin"):
        crawl = _open(url, mission, sites)
    _fill(crawl, mission, pages, unscored, labelled)
    crawl.close("timeout", [])
    with _timed("resume"):
        crawl = _open(url, mission, sites)
    with _timed("join"):
        other = _open(url, mission, sites)
    crawl.close("shutdown", [])
    with _timed("take over"):
        longest = _take_over(other, sites)
    print(f"the reactor was busy for {1000 * longest:.0f} ms at most while sites were opened", flush=True)
    other.close("timeout", [])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scale.sites", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sites", type=int, default=10_000)
    parser.add_argument("--mission", choices=(SITEGRAPH, NEWS), default=SITEGRAPH)
    parser.add_argument("--pages", type=int, default=20, help="that are stored of each site")
    parser.add_argument("--unscored", type=int, default=0, help="pages of each site of a news crawl that wait again")
    parser.add_argument("--labelled", type=int, default=0, help="pages of each site of a news crawl that are labels")
    parser.add_argument("--url", help="of an empty database; without it, an SQLite file")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sites-") as folder:
        url = chosen.url or f"sqlite:///{Path(folder) / 'crawl.sqlite'}"
        measure(url, chosen.mission, chosen.sites, chosen.pages, chosen.unscored, chosen.labelled)


if __name__ == "__main__":
    main()
