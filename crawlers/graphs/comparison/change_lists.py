"""What changed between two crawls, counted and listed as far as memory allows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from crawlers.graphs.comparison.crawl_changes import UNCHANGED, LinkChange, PageChange, link_changes, page_changes
from crawlers.graphs.looks import host_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlers.graphs.comparison.crawl_changes import Change
    from crawlers.storage.database import Database

MOST_ROWS = 100_000  # of each list


class ComparedSite(NamedTuple):
    """A site and its numbers in two crawls; None in a crawl without it."""

    site: str
    folder: str | None
    before: int | None
    after: int | None


class LinkNumbers(NamedTuple):
    """The different links of the pages of a crawl, without those of pages to themselves."""

    internal: int
    external: int
    hosts: int  # that external ones lead to


@dataclass(frozen=True, slots=True)
class ChangeLists:
    """The pages and links of two crawls that changed, at most `MOST_ROWS` each, and how many changed in which way."""

    pages: list[PageChange]
    links: list[LinkChange]
    page_counts: Counter[Change]
    link_counts: Counter[Change]
    before: LinkNumbers
    after: LinkNumbers


def change_lists(database: Database, sites: Sequence[ComparedSite], most: int = MOST_ROWS) -> ChangeLists:
    """Return what changed on *sites*; of each list at most *most* rows, by site and then by page.

    Reads all pages and links of both crawls. Memory: the rows, and the external hosts.
    """
    pages: list[PageChange] = []
    page_counts: Counter[Change] = Counter()
    for page in changed_pages(database, sites, page_counts):
        if len(pages) < most:
            pages.append(page)
    links: list[LinkChange] = []
    link_counts: Counter[Change] = Counter()
    numbers = _LinkCounter(), _LinkCounter()
    for link in _links(database, sites):
        link_counts[link.change] += 1
        for counter, count in zip(numbers, (link.links_before, link.links_after), strict=True):
            if count is not None:
                counter.add(link)
        if link.change != UNCHANGED and len(links) < most:
            links.append(link)
    return ChangeLists(pages, links, page_counts, link_counts, *(counter.numbers() for counter in numbers))


def changed_pages(
    database: Database, sites: Sequence[ComparedSite], counts: Counter[Change] | None = None
) -> Iterator[PageChange]:
    """Yield the pages of *sites* that changed; all of them are counted in *counts*."""
    for site in sites:
        for page in page_changes(database, site.before, site.after):
            if counts is not None:
                counts[page.change] += 1
            if page.change != UNCHANGED:
                yield page


def changed_links(
    database: Database, sites: Sequence[ComparedSite], counts: Counter[Change] | None = None
) -> Iterator[LinkChange]:
    """Yield the links of *sites* that changed; all of them are counted in *counts*."""
    for link in _links(database, sites):
        if counts is not None:
            counts[link.change] += 1
        if link.change != UNCHANGED:
            yield link


def _links(database: Database, sites: Sequence[ComparedSite]) -> Iterator[LinkChange]:
    for site in sites:
        yield from link_changes(database, site.before, site.after)


class _LinkCounter:
    def __init__(self) -> None:
        self._internal = self._external = 0
        self._hosts: set[str] = set()

    def add(self, link: LinkChange) -> None:
        if link.kind == "external":
            self._external += 1
            self._hosts.add(host_of(link.target))
        else:
            self._internal += 1

    def numbers(self) -> LinkNumbers:
        return LinkNumbers(self._internal, self._external, len(self._hosts))
