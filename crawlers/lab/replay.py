"""`scrapy lab replay`: replays each rule on the web that a crawl has stored, without requests.

Reads the pages of a crawl with their links to each other and their rewards, for replays in another order.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.settings import Settings
from sqlalchemy import func, select

from crawlers.bandits.reward_kinds import REWARDS
from crawlers.bandits.site_rules import RULES
from crawlers.cli.setting_checks import check_link_prior
from crawlers.errors import ConfigError
from crawlers.files.csv_tables import write_table
from crawlers.inputs.crawl_name import named_by
from crawlers.inputs.link_prior_file import chosen_link_prior
from crawlers.inputs.setting_readers import registry_entry, rule_options
from crawlers.lab import yield_chart
from crawlers.lab.options import check, page_budget, rule_names
from crawlers.lab.simulation.experiment import OMNISCIENT, ORACLE, Measured, checkpoints
from crawlers.lab.simulation.order_replay import ByValue, LevelByLevel, ReplayPage, ReplaySite
from crawlers.lab.simulation.order_replay import replay as replay_order
from crawlers.lab.simulation.rule_simulation import omniscient, oracle, simulate
from crawlers.lab.site_yields import links_of_pages, site_yields
from crawlers.plurals import counted, plural
from crawlers.ranking.link_prior import prior_of
from crawlers.ranking.link_values import LinkValues
from crawlers.store.database import Database
from crawlers.store.reading.crawl_settings import settings_of
from crawlers.store.reading.queries import crawl_named
from crawlers.store.schema.tables import link, link_features, page, pull, site
from crawlers.store.writing.stored_features import read_features

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from scrapy.settings import BaseSettings
    from sqlalchemy import Connection

    from crawlers.bandits.reward_kinds import RewardKind
    from crawlers.bandits.site_rules import SiteRule
    from crawlers.lab.site_yields import SiteYields
    from crawlers.ranking.link_prior import LinkPrior

ROWS_AT_ONCE = 10_000


def known_sites(database: Database, crawl_id: int, reward: RewardKind) -> list[ReplaySite]:
    """Return all sites of a crawl in the order of its host list, with the keys that *reward* counts.

    The links of a page are in the order in which their targets were found. All sites are in memory at a time: some 500
    bytes for each page, 8 for each link to a page and 200 for each external link. Raises `StoreError` if it is damaged.
    """
    sites = select(site.c.id, site.c.site, site.c.max_level).where(site.c.crawl_id == crawl_id).order_by(site.c.id)
    with database.read() as connection:
        return [_known(connection, *row, reward, database.name) for row in connection.execute(sites).all()]


def _known(
    connection: Connection, site_id: int, name: str, max_level: int | None, reward: RewardKind, store: str
) -> ReplaySite:
    stream = connection.execution_options(yield_per=ROWS_AT_ONCE)
    of_pages = select(pull.c.page_id, func.count()).where(pull.c.site_id == site_id).group_by(pull.c.page_id)
    downloads = {number: count for number, count in connection.execute(of_pages)}
    links: dict[int, array[int]] = {}
    between = (
        select(link.c.source_id, link.c.target_id)
        .join(page, page.c.id == link.c.source_id)
        .where(page.c.site_id == site_id)
        .order_by(link.c.source_id, link.c.target_id)
    )
    for source, target in stream.execute(between):
        links.setdefault(source, array("q")).append(target)
    external = links_of_pages(connection, site_id)
    rows = (
        select(page.c.id, page.c.moved_to, link_features.c.features)
        .outerjoin(link_features, link_features.c.page_id == page.c.id)
        .where(page.c.site_id == site_id)
        .order_by(page.c.level, page.c.hops, page.c.id)
    )
    home, pages = 0, dict[int, ReplayPage]()
    with stream.execute(rows) as found_rows:  # closes the cursor of the server if a row is damaged
        for number, moved_to, text in found_rows:
            home = home or number
            features = None if text is None else read_features(text, store)
            found = external.get(number, ())
            keys = frozenset(reward.keys(found))
            pages[number] = ReplayPage(downloads.get(number, 0), links.get(number, ()), moved_to, found, keys, features)
    return ReplaySite(name, home, pages, max_level)


HELP = "shows the links that each rule would have found in the web of a stored crawl, without requests."
SHARES = (8, 4, 2, 1)  # of the budget: columns of the table
LEARNT = "learnt"
ORDERS = ("bfs", LEARNT)  # that can be replayed


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of one rule with a budget."""

    choices: list[int]  # index of the site of each page
    found: list[int]  # rewards of the first 0, 1, 2 … pages
    urls: int  # distinct external URLs of all sites
    hosts: int


@dataclass(frozen=True, slots=True)
class AsRead:
    """Each site in the order in which the crawl read it."""

    sites: Sequence[SiteYields]

    def run(self, rule: SiteRule, page_budget: int) -> Replayed:
        """Return the result of *rule*, which must be new, with *page_budget* pages."""
        made = simulate(rule, [site.yields for site in self.sites], page_budget)
        urls: set[int] = set()
        hosts: set[int] = set()
        for known, pulls in zip(self.sites, made.pulls, strict=True):
            urls = urls.union(*known.urls[:pulls])
            hosts = hosts.union(*known.hosts[:pulls])
        return Replayed(made.choices, made.found, len(urls), len(hosts))


@dataclass(frozen=True, slots=True)
class InOrder:
    """Each site in an *order*, as far as the crawl knows its links; `learnt` begins with *weights*."""

    order: str
    sites: Sequence[ReplaySite]
    reward: RewardKind
    weights: LinkPrior

    def run(self, rule: SiteRule, page_budget: int) -> Replayed:
        """Return the result of *rule*, which must be new, with *page_budget* pages."""
        made = replay_order(self.sites, rule, self._orders(), page_budget, only_new=self.reward.only_new)
        downloads = Counter(zip(made.choices, made.pages, strict=True))
        pages = ((self.sites[chosen].pages[number], times) for (chosen, number), times in downloads.items())
        read = [page for page, times in pages if times == page.downloads]
        urls = set[int]().union(*(REWARDS["new_links"].keys(page.external) for page in read))
        hosts = set[int]().union(*(REWARDS["new_hosts"].keys(page.external) for page in read))
        return Replayed(made.choices, made.found, len(urls), len(hosts))

    def _orders(self) -> Sequence[ByValue | LevelByLevel]:
        if self.order == LEARNT:
            values = LinkValues(prior_of(self.weights))
            return [ByValue(values) for _ in self.sites]
        return [LevelByLevel() for _ in self.sites]


def add_options(parser: argparse._ArgumentGroup) -> None:
    """Add the options of the replay to *parser*."""
    parser.add_argument("--reward", choices=tuple(REWARDS), help="reward of the rules (default: the setting REWARD)")
    parser.add_argument("--order", choices=ORDERS, help="page order (default: that of the crawl)")


def run(opts: argparse.Namespace, settings: BaseSettings) -> None:
    """Replay, print the table and write the files that *opts* names; raises `ConfigError` before anything is done."""
    budget = page_budget(opts)
    rules = rule_names(opts.rules)
    check(opts, settings)
    reward = opts.reward or settings.get("REWARD")
    counts = registry_entry(REWARDS, "REWARD", reward)
    database = Database(settings.get("DATABASE_URL"), create=False)
    try:
        crawl = crawl_named(database, named_by(opts.crawl, settings))
        order = settings_of(database, crawl.id).get("ORDER") or settings.get("ORDER")
        if opts.order == LEARNT != order:
            raise ConfigError(
                f"--order {LEARNT}: CRAWL={crawl.name} has ORDER={order}, and only crawls with ORDER={LEARNT} store "
                "what it needs of links; crawl with that first"
            )
        # What an order that learns reads next depends on the rule, so that the order of the crawl says nothing.
        is_as_read = opts.order is None and order != LEARNT
        replayed = opts.order or order
        check_link_prior(replayed, settings)
        weights = chosen_link_prior(settings) if replayed == LEARNT else {}
        sites = site_yields(database, crawl.id, counts)
        replay = (
            AsRead(sites) if is_as_read else InOrder(replayed, known_sites(database, crawl.id, counts), counts, weights)
        )
    finally:
        database.close()
    downloads = sum(len(site.yields) for site in sites)
    if not downloads:
        raise ConfigError(f"CRAWL={crawl.name} has not read a page yet; crawl first, or name another with --crawl")
    print(
        f"crawl {crawl.name} (number {crawl.id}, {crawl.state}), ORDER={order}: "
        f"{len(sites)} {plural(len(sites), 'site')}, {downloads:,} {plural(downloads, 'download')}, "
        f"{sum(sum(site.yields) for site in sites):,} {reward.replace('_', ' ')}"
    )
    for warning in _warnings(sites, budget):
        print(f"note: {warning}")
    if not is_as_read:
        print(f"replayed with ORDER={replayed}, by the links between the pages that the crawl read")
    options = rule_options(Settings({**settings.copy_to_dict(), "ORDER": replayed}))
    budgets = sorted({max(1, budget // share) for share in SHARES})
    runs = {rule: {n: replay.run(RULES[rule](replace(options, page_budget=n)), n) for n in budgets} for rule in rules}
    yields = [site.yields for site in sites]
    bounds = {ORACLE: oracle(yields, budget), OMNISCIENT: omniscient(yields, budget)}
    print(_table(runs, bounds, budgets))
    if opts.out:
        _write(Path(opts.out), runs, budget)
        print(f"{opts.out}: {counted(len(rules), 'rule')}")
    if opts.picture:
        points = checkpoints(budget)
        found = {rule: _at(by_budget[budget].found, points) for rule, by_budget in runs.items()}
        found |= {name: _at(curve, points) for name, curve in bounds.items()}
        yield_chart.draw(Path(opts.picture), {crawl.name: [Measured(crawl.name, 0, found)]}, budget)
        print(f"{opts.picture}: {counted(len(rules), 'rule')}")


def _warnings(sites: Sequence[SiteYields], budget: int) -> list[str]:
    found = []
    downloads = sum(len(site.yields) for site in sites)
    if budget >= downloads:
        found.append(
            f"with {budget:,} pages every rule reads all {downloads:,} of them; try --budget {max(1, downloads // 3)}"
        )
    if not all(site.is_read for site in sites):
        found.append("not all URLs of the crawl were read, so sites end where it stopped")
    deleted = sum(site.deleted for site in sites)
    if deleted:
        found.append(f"the rows of {deleted:,} duplicates were deleted (SAVE_DUPLICATES=0), including their rewards")
    if any(site.parallel > 1 for site in sites):
        found.append("sites were read several pages at a time: another run may read them in another order")
    return found


def _at(found: Sequence[int], points: Sequence[int]) -> list[int]:
    return [found[min(point, len(found) - 1)] for point in points]


def _table(runs: dict[str, dict[int, Replayed]], bounds: dict[str, list[int]], budgets: Sequence[int]) -> str:
    most = bounds[ORACLE]
    heads = "".join(f"{f'{n} pages':>18}" for n in budgets)
    lines = [f"{'rule':14}{heads}{'URLs':>10}{'hosts':>8}"]
    for rule, by_budget in sorted(runs.items(), key=lambda one: -one[1][budgets[-1]].found[-1]):
        cells = "".join(f"{by_budget[n].found[-1]:>10} ({_ratio(by_budget[n].found[-1], most[n])})" for n in budgets)
        last = by_budget[budgets[-1]]
        lines.append(f"{rule:14}{cells}{last.urls:>10}{last.hosts:>8}")
    for name, curve in bounds.items():
        lines.append(f"{name:14}" + "".join(f"{curve[n]:>10} ({_ratio(curve[n], most[n])})" for n in budgets))
    lines.append(
        "in brackets: share of the oracle, which reads each site in the order of the crawl, up to the best point"
    )
    return "\n".join(lines)


def _ratio(links: int, most: int) -> str:
    return f"{links / most if most else 1.0:5.3f}"


def _write(path: Path, runs: dict[str, dict[int, Replayed]], budget: int) -> None:
    points = checkpoints(budget)
    rows = (
        (rule, *at)
        for rule, by_budget in runs.items()
        for at in zip(points, _at(by_budget[budget].found, points), strict=True)
    )
    write_table(path, ("rule", "pages", "found"), rows)
