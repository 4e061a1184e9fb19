"""The model of a web fragment: the sites of a crawl, and the sites that they link to.

The sites of the crawl are the *target set*. The other sites that they link to are the *accompanying set*,
divided into classes by the number of target sites that link to them.

References
----------
.. [1] Pechnikov, Chernobrovkin, Adaptive crawler for the search and gathering of external hyperlinks, section 1.
"""

from __future__ import annotations

from bisect import bisect
from itertools import groupby, takewhile
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from crawlers.graphs.model import Column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlers.graphs.fragment.link_counts import FragmentCounts, Pair
    from crawlers.graphs.model import Row

TARGET, ACCOMPANYING = "target", "accompanying"
# The minimum number of target sites of each class. Most sites are linked from one and few from all, so classes widen.
CLASS_STARTS = (1, 2, 3, 5, 10)


def link_class(target_sites: int, of: int) -> str:
    """Return the class of a site that *target_sites* of *of* target sites link to.

    >>> [link_class(number, of=500) for number in (1, 2, 4, 9, 10, 500)]
    ['1', '2', '3 to 4', '5 to 9', '10+', '10+']
    >>> link_class(3, of=3), link_class(5, of=7), link_class(10, of=10)
    ('3', '5 to 7', '10')
    """
    place = bisect(CLASS_STARTS, target_sites)
    least = CLASS_STARTS[place - 1]
    is_last = place == len(CLASS_STARTS)
    if is_last and of > least:
        return f"{least}+"
    most = of if is_last else min(CLASS_STARTS[place] - 1, of)
    return str(least) if least == most else f"{least} to {most}"  # a spreadsheet reads 3-4 as a date


class ClassSize(NamedTuple):
    """A class of the accompanying set, with the total URLs and links of its sites."""

    name: str
    sites: int
    urls: int
    links: int


def class_sizes(counts: FragmentCounts) -> list[ClassSize]:
    """Return the classes that have sites, the most connected first."""
    sizes = []
    linked = (counts.inward[number - 1] for number in counts.accompanying)
    for name, of_class in groupby(linked, key=lambda inward: link_class(inward.target_sites, len(counts.targets))):
        members = list(of_class)
        sizes.append(ClassSize(name, len(members), sum(one.urls for one in members), sum(one.links for one in members)))
    return sizes


class WebFragment:
    """The sites as a graph: the weight of an edge is the number of links from pages of one site to the other.

    With *targets_only* it contains only the target set and the links within it.
    """

    columns = (
        Column("set", "string"),
        Column("class", "string"),  # of accompanying sites
        Column("pages", "integer"),  # these three belong to target sites
        Column("duplicates", "integer"),
        Column("external_links", "integer"),
        Column("in_degree", "integer"),
        Column("out_degree", "integer"),
        Column("urls_in", "integer"),
        Column("links_in", "long"),
    )

    def __init__(self, counts: FragmentCounts, name: str, *, targets_only: bool = False) -> None:
        self.name = name
        self.description = f"{len(counts.targets)} target sites of {name}"
        if not targets_only:
            self.description += f" and {len(counts.accompanying)} accompanying sites"
        self._counts = counts
        self._last = len(counts.targets) if targets_only else len(counts.sites)

    @property
    def ids(self) -> range:
        return range(1, self._last + 1)

    def edges(self) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        for source, pairs in self._by_source():
            yield source, [(pair.target, pair.links) for pair in pairs]

    def nodes(self) -> Iterator[Row]:
        counts = self._counts
        out_degree = {source: len(pairs) for source, pairs in self._by_source()}
        for number, (site, inward) in enumerate(zip(counts.sites, counts.inward, strict=True), 1):
            if number > self._last:
                return
            of_links = inward.target_sites, out_degree.get(number, 0), inward.urls, inward.links
            if number in counts.targets:
                yield number, site, TARGET, None, *counts.outward[number - 1], *of_links
            else:
                yield (
                    number,
                    site,
                    ACCOMPANYING,
                    link_class(inward.target_sites, len(counts.targets)),
                    None,
                    None,
                    None,
                    *of_links,
                )

    def _by_source(self) -> Iterator[tuple[int, list[Pair]]]:
        for source, pairs in groupby(self._counts.pairs, key=attrgetter("source")):
            yield source, list(takewhile(lambda pair: pair.target <= self._last, pairs))
