"""Replays a site rule and a page order on sites whose pages and links are known, one page in flight at a time.

The pages of a site wait from the time when one of the pages that link to them was read, as in a crawl.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crawlers.ranking.link_features import COLUMNS, MAX_LEVEL, feature_id
from crawlers.ranking.link_values import CLOSE, LinkTable
from crawlers.ranking.page_orders import MAX_HOPS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawlers.bandits.site_rules import SiteRule
    from crawlers.items import ExternalLink
    from crawlers.ranking.link_values import Features, LinkValues

LEVEL, PAGE = COLUMNS["level"], COLUMNS["page"]


@dataclass(frozen=True, slots=True)
class ReplayPage:
    """What a crawl stored of a page."""

    downloads: int  # until it was read; 0: it never was
    links: Sequence[int]  # numbers of pages of its site, in the order in which they wait
    moved_to: int | None
    external: Sequence[ExternalLink]
    keys: frozenset[int]  # of these links, that are rewarded
    features: Features | None  # of the link by which it was found


@dataclass(frozen=True, slots=True)
class ReplaySite:
    """A site by the numbers of its pages."""

    site: str
    home: int
    pages: Mapping[int, ReplayPage]
    max_level: int | None = None  # deepest level that is read; None: there is none


@dataclass(frozen=True, slots=True)
class ReplayEntry:
    """A page that waits."""

    page: int
    age: int  # its number among the pages of its site, in the order in which they were found
    level: int
    hops: int
    features: Features | None  # None: the home page


@dataclass(frozen=True, slots=True)
class Replay:
    """The course of a replay."""

    choices: list[int]  # the site of each download
    pages: list[int]  # its page
    found: list[int]  # rewards of the first 0, 1, 2 … downloads


def replay(
    sites: Sequence[ReplaySite],
    rule: SiteRule,
    orders: Sequence[LevelByLevel | ByValue],
    page_budget: int,
    *,
    only_new: bool = True,
) -> Replay:
    """Return what *rule* and *orders*, one for each site and all of them new, find with *page_budget* downloads.

    With *only_new* a key counts only once per site.
    """
    course = Replay([], [], [0])
    ages: list[dict[int, int]] = [{site.home: 0} for site in sites]  # by page
    paid: list[set[int]] = [set() for _ in sites]
    downloads: list[dict[int, int]] = [{} for _ in sites]
    for number, (site, order) in enumerate(zip(sites, orders, strict=True)):
        if site.home in site.pages and site.pages[site.home].downloads:
            order.push(ReplayEntry(site.home, 0, 0, 0, None))
        (rule.wake if len(order) else rule.sleep)(number)
    while len(course.choices) < page_budget:
        chosen = rule.select(float(len(course.choices)))
        if chosen is None:
            break
        assert isinstance(chosen, int)
        site, order = sites[chosen], orders[chosen]
        waiting = order.pop()
        rule.record_pull(chosen)
        page, reward, found = site.pages[waiting.page], 0, list[ReplayEntry]()
        number = downloads[chosen][waiting.page] = downloads[chosen].get(waiting.page, 0) + 1
        if number < page.downloads:
            found = [replace(waiting, hops=waiting.hops + 1)]  # most often it redirects to itself
        else:
            reward = len(page.keys - paid[chosen]) if only_new else len(page.keys)
            paid[chosen] |= page.keys
            found = _found(site, waiting, ages[chosen])
        rule.record_reward(chosen, float(reward))
        order.record_reward(waiting, reward)
        for one in found:
            order.push(one)
        (rule.wake if len(order) else rule.sleep)(chosen)
        course.choices.append(chosen)
        course.pages.append(waiting.page)
        course.found.append(course.found[-1] + reward)
    return course


def _found(site: ReplaySite, waiting: ReplayEntry, ages: dict[int, int]) -> list[ReplayEntry]:
    """Return the new pages to which a page leads, as far as the crawl read them, and add them to *ages*."""
    page = site.pages[waiting.page]
    if page.moved_to is not None:
        target = site.pages.get(page.moved_to)
        if target is None or not target.downloads or page.moved_to in ages:
            return []
        age = ages[page.moved_to] = len(ages)
        return [replace(waiting, page=page.moved_to, age=age, hops=waiting.hops + 1)]
    found, level = list[ReplayEntry](), waiting.level + 1
    if site.max_level is not None and level > site.max_level:
        return found
    for number in page.links:
        target = site.pages.get(number)
        if target is not None and target.downloads and number not in ages:
            ages[number] = len(ages)
            features = None if target.features is None else _as_found(target.features, site.site, waiting.page, level)
            found.append(ReplayEntry(number, ages[number], level, 0, features))
    return found


def _as_found(features: Features, site: str, source: int, level: int) -> Features:
    """Return the *features* of a link as if it had been found on the page *source*."""
    row = features.copy()
    row[PAGE] = feature_id("page", site, str(source))
    row[LEVEL] = feature_id("level", "", str(min(level, MAX_LEVEL)))
    return row


class LevelByLevel:
    """The page with the lowest level, of equals the one that was found first."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, ReplayEntry]] = []

    def push(self, page: ReplayEntry) -> None:
        heapq.heappush(self._heap, (page.level * (MAX_HOPS + 1) + page.hops, page.age, page))

    def pop(self) -> ReplayEntry:
        return heapq.heappop(self._heap)[2]

    def record_reward(self, page: ReplayEntry, reward: int) -> None:
        """Learn nothing."""

    def __len__(self) -> int:
        return len(self._heap)


class ByValue:
    """The first found of the pages whose links promise most by *values*, which all sites share."""

    def __init__(self, values: LinkValues) -> None:
        self._values = values
        self._homes: list[ReplayEntry] = []
        self._pages: dict[int, ReplayEntry] = {}  # the others
        self._links = LinkTable()

    def push(self, page: ReplayEntry) -> None:
        if page.features is None:
            self._homes.append(page)
        else:
            self._pages[page.page] = page
            self._links.add(page.page, page.features)

    def pop(self) -> ReplayEntry:
        if self._homes:
            return self._homes.pop(0)
        scores = self._values.scores(self._links.features)
        close = self._links.ids[scores > scores.max() - CLOSE].tolist()
        best = min(close, key=lambda number: self._pages[number].age)
        self._links.remove(best)
        return self._pages.pop(best)

    def record_reward(self, page: ReplayEntry, reward: int) -> None:
        if page.features is not None:
            self._values.learn(page.features.tolist(), float(reward))

    def __len__(self) -> int:
        return len(self._homes) + len(self._pages)
