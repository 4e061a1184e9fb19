"""`scrapy lab replay`: replays each rule on the web that a crawl has stored, without requests."""

from __future__ import annotations

from array import array
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.settings import Settings
from sqlalchemy import func, select

from crawlers.bandits.site_rules import REWARDS, RULES
from crawlers.bandits.turns import Sequential
from crawlers.cli.project_command import check_link_prior
from crawlers.errors import ConfigError
from crawlers.files.csv_tables import write_table
from crawlers.inputs.link_prior_file import chosen_link_prior
from crawlers.inputs.setting_readers import named_by, registry_entry, rule_options
from crawlers.items import ExternalLink, State
from crawlers.lab.experiment import OMNISCIENT, ORACLE, Measured, checkpoints, omniscient, oracle
from crawlers.lab.options import check, draw, page_budget, rule_names
from crawlers.lab.order_replay import ByValue, LevelByLevel, ReplayPage, ReplaySite
from crawlers.lab.order_replay import replay as replay_order
from crawlers.plurals import counted
from crawlers.ranking.link_features import prior_of
from crawlers.ranking.link_values import LinkValues
from crawlers.store.database import Database
from crawlers.store.reading.crawl_settings import settings_of
from crawlers.store.reading.queries import crawl_named
from crawlers.store.schema.tables import external_link, external_url, link, link_features, page, pull, site
from crawlers.store.writing.pulls import read_features
from crawlers.workers.exchange import has_work

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from scrapy.settings import BaseSettings
    from sqlalchemy import Connection

    from crawlers.bandits.site_rules import RewardKind, SiteRule
    from crawlers.ranking.link_features import LinkPrior

HELP = "shows the links that each rule would have found in the web of a stored crawl, without requests."
TAKES = frozenset({"rules", "budget", "crawl", "out", "picture"})
SHARES = (8, 4, 2, 1)  # of the budget: columns of the table
BFS, LEARNT = "bfs", "learnt"
ORDERS = (BFS, LEARNT)  # that can be replayed
ROWS_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of one rule with a budget."""

    pages: list[int]  # numbers, one for each download
    found: list[int]  # rewards of the first 0, 1, 2 … pages
    urls: int  # distinct external URLs of all sites
    hosts: int


@dataclass(frozen=True, slots=True)
class KnownWeb:
    """The *sites* of a crawl, whose pages are read in an *order*, as far as the crawl knows their links.

    The order `learnt` begins with *weights*.
    """

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
        return Replayed(made.pages, made.found, len(urls), len(hosts))

    def yields(self, page_budget: int) -> list[list[int]]:
        """Return the reward of each of the first *page_budget* downloads of each site, if that is read alone."""
        runs = (replace(self, sites=[site]).run(Sequential(), page_budget) for site in self.sites)
        return [[after - before for before, after in pairwise(run.found)] for run in runs]

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
    with closing(Database(settings.get("DATABASE_URL"), create=False)) as database:
        crawl = crawl_named(database, named_by(opts.crawl, settings))
        order = settings_of(database, crawl.id).get("ORDER") or settings.get("ORDER")
        if opts.order == LEARNT != order:
            raise ConfigError(
                f"--order {LEARNT}: CRAWL={crawl.name} has ORDER={order}, and only crawls with ORDER={LEARNT} store "
                "what it needs of links; crawl with that first"
            )
        replayed = opts.order or (order if order in ORDERS else BFS)
        check_link_prior(replayed, settings)
        weights = chosen_link_prior(settings) if replayed == LEARNT else {}
        web = KnownWeb(replayed, known_sites(database, crawl.id, counts), counts, weights)
        downloads = sum(one.downloads for known in web.sites for one in known.pages.values())
        warnings = _warnings(database, crawl.id, downloads, budget)
    if not downloads:
        raise ConfigError(f"CRAWL={crawl.name} has not read a page yet; crawl first, or name another with --crawl")
    yields = web.yields(downloads)
    print(
        f"crawl {crawl.name} (number {crawl.id}, {crawl.state}), ORDER={order}: "
        f"{counted(len(web.sites), 'site')}, {counted(downloads, 'download')}, "
        f"{sum(map(sum, yields)):,} {reward.replace('_', ' ')}"
    )
    for warning in warnings:
        print(f"note: {warning}")
    print(f"replayed with ORDER={replayed}, by the links between the pages that the crawl read")
    options = rule_options(Settings({**settings.copy_to_dict(), "ORDER": replayed}))
    budgets = sorted({max(1, budget // share) for share in SHARES})
    runs = {rule: {n: web.run(RULES[rule](replace(options, page_budget=n)), n) for n in budgets} for rule in rules}
    bounds = {ORACLE: oracle(yields, budget), OMNISCIENT: omniscient(yields, budget)}
    print(_table(runs, bounds, budgets))
    if opts.out:
        _write(Path(opts.out), runs, budget)
        print(f"{opts.out}: {counted(len(rules), 'rule')}")
    if opts.picture:
        points = checkpoints(budget)
        found = {rule: _at(by_budget[budget].found, points) for rule, by_budget in runs.items()}
        found |= {name: _at(curve, points) for name, curve in bounds.items()}
        draw(Path(opts.picture), {crawl.name: [Measured(crawl.name, 0, found)]}, budget)
        print(f"{opts.picture}: {counted(len(rules), 'rule')}")


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
    pulls = {number: count for number, count in connection.execute(of_pages)}
    links: dict[int, array[int]] = {}
    between = (
        select(link.c.source_id, link.c.target_id)
        .join(page, page.c.id == link.c.source_id)
        .where(page.c.site_id == site_id)
        .order_by(link.c.source_id, link.c.target_id)
    )
    for source, target in stream.execute(between):
        links.setdefault(source, array("q")).append(target)
    external = _external_links(connection, site_id)
    rows = (
        select(page.c.id, page.c.moved_to, page.c.attempts, link_features.c.features)
        .outerjoin(link_features, link_features.c.page_id == page.c.id)
        .where(page.c.site_id == site_id)
        .order_by(page.c.level, page.c.hops, page.c.id)
    )
    home, pages = 0, dict[int, ReplayPage]()
    with stream.execute(rows) as found_rows:  # closes the cursor of the server if a row is damaged
        for number, moved_to, attempts, text in found_rows:
            home = home or number
            features = None if text is None else read_features(text, store)
            found = external.get(number, ())
            keys = frozenset(reward.keys(found))
            downloads = pulls.get(number, 0) if pulls else attempts  # no pulls: the crawl counted no rewards
            pages[number] = ReplayPage(downloads, links.get(number, ()), moved_to, found, keys, features)
    return ReplaySite(name, home, pages, max_level)


def _external_links(connection: Connection, site_id: int) -> dict[int, list[ExternalLink]]:
    """Return the external links of each page of a site that was read, each URL once, with its key and its site only."""
    links: dict[int, list[ExternalLink]] = {}
    statement = (
        select(external_link.c.page_id, external_url.c.key, external_url.c.site)
        .join(page, page.c.id == external_link.c.page_id)
        .join(external_url, external_url.c.id == external_link.c.url_id)
        .where(page.c.site_id == site_id, page.c.state == int(State.DONE))
        .distinct()
    )
    for page_id, key, target_site in connection.execute(statement):
        links.setdefault(page_id, []).append(ExternalLink("", key, target_site, "", "", "", "", ""))
    return links


def _warnings(database: Database, crawl_id: int, downloads: int, budget: int) -> list[str]:
    found = []
    if budget >= downloads:
        found.append(
            f"with {budget:,} pages every rule reads all {downloads:,} of them; try --budget {max(1, downloads // 3)}"
        )
    if database.rows(select(site.c.id).where(site.c.crawl_id == crawl_id, has_work(site)).limit(1)):
        found.append("not all URLs of the crawl were read, so sites end where it stopped")
    duplicates = select(func.sum(page.c.duplicates)).join(site, site.c.id == page.c.site_id)
    if deleted := database.scalar(duplicates.where(site.c.crawl_id == crawl_id)):
        found.append(f"the rows of {deleted:,} duplicates were deleted (SAVE_DUPLICATES=0), including their rewards")
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
    lines.append("in brackets: share of the oracle, which reads each site in that order, up to the best point")
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
