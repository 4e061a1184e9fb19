"""`scrapy lab topic`: compares topic crawls, as they ran or replayed with other strategies.

The runs use the stored web of a topic crawl: the terms of its pages, and the texts and targets of their links.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from crawlers.cli.store_command import whole_number
from crawlers.errors import ConfigError
from crawlers.files.csv_tables import write_table
from crawlers.inputs.setting_readers import named_by
from crawlers.items import State
from crawlers.lab.experiment import checkpoints
from crawlers.lab.options import check, chosen_names, draw_curves, label_of
from crawlers.missions.topic.strategy_replay import Curves, Replay, StoredWeb, compare
from crawlers.missions.topic.topic_file import language_of, read_pages, read_topic, terms_of
from crawlers.missions.topic.topic_scores import LinkRelevance, TopicScores
from crawlers.missions.topic.vectors import STRATEGIES, Terms, Topic, topic_of
from crawlers.plurals import counted
from crawlers.store.database import Database
from crawlers.store.reading.queries import crawl_named
from crawlers.store.reading.redirect_chains import final_target, redirects_of
from crawlers.store.schema.tables import link, page, site

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from scrapy.settings import BaseSettings

    from crawlers.missions.topic.strategy_replay import Comparison
    from crawlers.store.reading.queries import NamedCrawl


def links_between(database: Database, crawl_id: int) -> Iterator[tuple[int, int]]:
    """Yield the links of a crawl as (source, target); redirects are followed to their final targets."""
    target = page.alias()
    of_crawl = site.c.crawl_id == crawl_id
    statement = (
        select(link.c.source_id, link.c.target_id)
        .join(page, page.c.id == link.c.source_id)
        .join(site, site.c.id == page.c.site_id)
        .join(target, target.c.id == link.c.target_id)
        .where(of_crawl, target.c.state.in_((int(State.DONE), int(State.MOVED))))
        .order_by(link.c.source_id, link.c.target_id)
    )
    with database.read() as connection:
        moved = redirects_of(connection, crawl_id)
        for source, to in connection.execution_options(yield_per=10_000).execute(statement):
            if (end := final_target(to, moved)) is not None:
                yield source, end


class Runs(NamedTuple):
    """The compared runs. Pages are identified by numbers."""

    title: str
    topic: Topic
    read: dict[str, list[int]]  # by the name of the run, in order
    documents: Callable[[], Iterator[tuple[int, Mapping[str, int]]]]  # terms of pages
    links: Iterable[tuple[int, int]]
    unknown: dict[str, int]  # by name: pages that a replay skipped
    wanted: int  # pages that each run should have read


def as_they_ran(database: Database, names: Sequence[str]) -> Runs:
    """Return the runs of the crawls called *names*; pages with the same URL are the same. Raises `ConfigError`."""
    crawls = list(dict.fromkeys(crawl_named(database, name) for name in names))
    vectors = {crawl.id: _terms(database, crawl) for crawl in crawls}
    first = crawls[0]
    for crawl in crawls[1:]:
        if vectors[crawl.id] != vectors[first.id]:
            raise ConfigError(
                f"--crawls: {first.name} and {crawl.name} have different topics ({_words(vectors[first.id])}; "
                f"{_words(vectors[crawl.id])}); compare crawls of one topic, or replay one with --topic"
            )
    numbers: dict[str, int] = {}  # of the first page with a URL
    same: dict[int, int] = {}  # by page: the first page with its URL
    read: dict[str, list[int]] = {}
    for crawl in crawls:
        pages = read[label_of(crawl, crawls)] = []
        for one in read_pages(database, crawl.id):
            same[one.id] = numbers.setdefault(one.url, one.id)
            pages.append(same[one.id])
        if not pages:
            raise _empty(crawl)

    def documents() -> Iterator[tuple[int, Mapping[str, int]]]:
        for crawl in crawls:
            yield from ((page.id, page.terms) for page in read_pages(database, crawl.id) if same[page.id] == page.id)

    links = (
        (same[source], same[target])
        for crawl in crawls
        for source, target in links_between(database, crawl.id)
        if source in same and target in same
    )
    title = f"crawls {', '.join(read)} as they ran"
    return Runs(title, Topic(vectors[first.id]), read, documents, links, {}, 0)


def replayed(
    database: Database,
    name: str | None,
    topic_file: str | None,
    strategies: Sequence[str],
    most: int,
) -> Runs:
    """Return replays of *strategies* on the web of the crawl called *name*, *most* pages each.

    The topic is that of the crawl, or the keywords of *topic_file*.
    Raises `ConfigError`.
    """
    crawl = crawl_named(database, name)
    topic = Topic(_terms(database, crawl))
    terms = Terms(language_of(database, crawl.id))
    if topic_file is not None:
        spec = read_topic(topic_file)
        if spec.examples:
            raise ConfigError(f"--topic {topic_file}: a replay does not read examples; describe the topic by keywords")
        topic, terms = topic_of(spec.keywords, ()), Terms(spec.language)
    read: dict[str, list[int]] = {}
    unknown: dict[str, int] = {}

    with database.read() as connection:
        web = StoredWeb(connection, crawl.id, topic, terms)
        for strategy in strategies:
            web.begin()
            run = Replay(web, LinkRelevance(TopicScores(STRATEGIES[strategy]))).run(most)
            if not run.read:
                raise _empty(crawl)
            read[strategy], unknown[strategy] = run
    return Runs(
        f"crawl {crawl.name} (number {crawl.id}, {crawl.state}): {counted(len(web.pages), 'URL')}, replayed",
        topic,
        read,
        lambda: ((page.id, page.terms) for page in read_pages(database, crawl.id)),
        links_between(database, crawl.id),
        unknown,
        most,
    )


def _terms(database: Database, crawl: NamedCrawl) -> dict[str, float]:
    terms = terms_of(database, crawl.id)
    if terms is None:
        raise ConfigError(
            f"CRAWL={crawl.name} has no topic; name a crawl of scrapy crawl topic with --crawl or --crawls"
        )
    return terms


def _words(terms: Mapping[str, float]) -> str:
    return " ".join(list(terms)[:5])


def _empty(crawl: NamedCrawl) -> ConfigError:
    return ConfigError(f"CRAWL={crawl.name} has not read a page yet; crawl first, or name another")


HELP = "compares topic crawls as they ran, or replays other strategies on the web of one."
TAKES = frozenset({"crawl", "out", "picture"})
COLUMNS = 6  # of the table
TITLES = {
    "similarity": "average similarity of the pages read",
    "authorities": "share of the {0} best authorities read",
    "hubs": "share of the {0} best hubs read",
    "nearest": "share of the {0} most similar pages read",
}  # of the fields of Curves
DRAWN = ("similarity", "authorities", "nearest")


def add_options(parser: argparse._ArgumentGroup) -> None:
    """Add the options of the comparison to *parser*."""
    parser.add_argument("--crawls", metavar="NAME,NAME", help="compare these crawls of one topic as they ran")
    parser.add_argument(
        "--strategies",
        metavar="NAME,NAME",
        help=f"strategies to replay on the web of --crawl: {', '.join(STRATEGIES)} (default: all)",
    )
    parser.add_argument("--topic", metavar="FILE.yaml", help="replay the keywords of another topic")
    parser.add_argument("--pages", type=int, metavar="N", default=1000, help="pages to replay (default: %(default)s)")
    parser.add_argument(
        "--authorities", type=int, metavar="N", default=100, help="pages that count as important (default: %(default)s)"
    )


def run(opts: argparse.Namespace, settings: BaseSettings) -> None:
    """Compare, print the tables and write the files that *opts* names; raises `ConfigError` before anything is done."""
    important = whole_number("--authorities", opts.authorities, 1)
    most = whole_number("--pages", opts.pages, 1)
    strategies = chosen_names("--strategies", opts.strategies, list(STRATEGIES))
    if opts.crawls and (opts.crawl or opts.strategies or opts.topic):
        raise ConfigError(
            "--crawls compares crawls as they ran, but --crawl, --strategies and --topic replay one; leave out either"
        )
    check(opts, settings)
    database = Database(settings.get("DATABASE_URL"), create=False)
    try:
        if opts.crawls:
            runs = as_they_ran(database, [name.strip() for name in opts.crawls.split(",")])
        else:
            name = named_by(opts.crawl, settings)
            runs = replayed(database, name, opts.topic, strategies, most)
        found = compare(runs.topic, runs.read, runs.documents, runs.links, important)
    finally:
        database.close()
    longest = max(map(len, found.read.values()))
    print(_head(runs, found))
    print(_tables(found, _round_points(longest)))
    dense = found.curves(checkpoints(longest))
    if opts.out:
        _write(Path(opts.out), dense)
        print(f"{opts.out}: {len(dense)} runs")
    if opts.picture:
        panels = {
            TITLES[field].format(important): {name: getattr(curves, field) for name, curves in dense.items()}
            for field in DRAWN
        }
        title = f"{' '.join(list(runs.topic.terms)[:5])}: {runs.title}"
        draw_curves(Path(opts.picture), title, panels)
        print(f"{opts.picture}: {len(dense)} runs")


def _round_points(longest: int) -> list[int]:
    """Return 1, 2, 5, 10, 20 … pages, up to the length of the longest run."""
    points = [step * 10**power for power in range(len(str(longest))) for step in (1, 2, 5)]
    return [point for point in points if point <= longest][-COLUMNS:]


def _head(runs: Runs, found: Comparison) -> str:
    terms = ", ".join(f"{term} {weight:.2f}" for term, weight in list(runs.topic.terms.items())[:10])
    lines = [
        runs.title,
        f"topic: {terms}{' …' if len(runs.topic.terms) > 10 else ''}",
        f"measured by the {len(found.similarities):,} pages that any of them read: by their term frequencies "
        "and their links to each other",
    ]
    passed = {name: number for name, number in runs.unknown.items() if number}
    if passed:
        share = max(number / (number + len(runs.read[name])) for name, number in passed.items())
        lines.append(
            f"note: pages that the crawl never read were skipped, up to {share:.0%} of those chosen ("
            + ", ".join(f"{name} {number:,}" for name, number in passed.items())
            + "); a larger crawl gives a better replay"
        )
    ended = [f"{name} {len(pages):,}" for name, pages in runs.read.items() if len(pages) < runs.wanted]
    if ended:
        lines.append(f"note: nothing was left to read after: {', '.join(ended)} pages")
    return "\n".join(lines)


def _tables(found: Comparison, points: Sequence[int]) -> str:
    reached = found.curves(points)
    width = max(map(len, found.read)) + 2
    heads = "".join(f"{f'{point} pages':>13}" for point in points)
    lines = []
    sizes = {"authorities": len(found.authorities), "hubs": len(found.hubs), "nearest": len(found.nearest)}
    for field, title in TITLES.items():
        lines += ["", title.format(sizes.get(field)), f"{'':{width}}{heads}"]
        for name, curves in reached.items():
            values = dict(getattr(curves, field))
            cells = (f"{values[point]:>13.4f}" if point in values else f"{'-':>13}" for point in points)
            lines.append(f"{name:{width}}{''.join(cells)}")
    return "\n".join(lines)


def _write(path: Path, by_run: Mapping[str, Curves]) -> None:
    rows: Iterable[list[str | float]] = (
        [name, row[0][0], *(value for _, value in row)]
        for name, curves in by_run.items()
        for row in zip(*curves, strict=True)
    )
    write_table(path, ("run", "pages", *Curves._fields), rows)
