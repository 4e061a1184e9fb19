"""What changed between two crawls, counted and listed as far as memory allows."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from crawlers.graphs.comparison.crawl_changes import UNCHANGED, LinkChange, PageChange, link_changes, page_changes
from crawlers.graphs.looks import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlers.graphs.comparison.crawl_changes import Change
    from crawlers.store.database import Database

MOST_ROWS = 100_000  # of each list
R = TypeVar("R", PageChange, LinkChange)


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
    page_counts: Counter[Change] = Counter()
    link_counts: Counter[Change] = Counter()
    kinds: tuple[Counter[str], Counter[str]] = Counter(), Counter()  # of the links of each crawl
    hosts: tuple[set[str], set[str]] = set(), set()

    def counted_links() -> Iterator[LinkChange]:
        for link in all_links(database, sites):
            for place, count in enumerate((link.links_before, link.links_after)):
                if count is not None:
                    kinds[place][link.kind] += 1
                    if link.kind == "external":
                        hosts[place].add(host_of(link.target))
            yield link

    pages = _first(changed(all_pages(database, sites), page_counts), most)
    links = _first(changed(counted_links(), link_counts), most)
    numbers = (LinkNumbers(of["internal"], of["external"], len(its)) for of, its in zip(kinds, hosts, strict=True))
    return ChangeLists(pages, links, page_counts, link_counts, *numbers)


def _first(rows: Iterator[R], most: int) -> list[R]:
    """Return the first *most* of *rows*, all of which are read."""
    found = list(islice(rows, most))
    deque(rows, 0)
    return found


def changed(rows: Iterable[R], counts: Counter[Change]) -> Iterator[R]:
    """Yield those of *rows* that changed; all of them are counted in *counts*."""
    for row in rows:
        counts[row.change] += 1
        if row.change != UNCHANGED:
            yield row


def all_pages(database: Database, sites: Sequence[ComparedSite]) -> Iterator[PageChange]:
    """Yield the pages of *sites* in both crawls."""
    for site in sites:
        yield from (page for _, page in page_changes(database, site.before, site.after))


def all_links(database: Database, sites: Sequence[ComparedSite]) -> Iterator[LinkChange]:
    """Yield the links of *sites* in both crawls."""
    for site in sites:
        yield from (link for _, link in link_changes(database, site.before, site.after))
