"""Small random webs, and a model of the results of their crawls that shares no code with the frontier.

A page has four variants of one key. When requested, it returns links, is gone, has moved to another page, redirects to
one variant of its own, redirects from variant to variant without end, or fails a few times first.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from crawlers.items import State
from crawlers.ranking.page_orders import MAX_HOPS
from crawlers.urls.resolution import resolve, variant_rank

SITE = "http://a.test"
VARIANTS = ("/p{}/", "/p{}", "/p{}/?x=", "//p{}/")  # ranks 0, 1, 2 and 2
MAX_ATTEMPTS = 2  # the third failure is the last
BANNED = 7  # this page is not admitted


class Kind(Enum):
    PAGE = "page"
    GONE = "gone"
    MOVED = "moved"  # to links[0]
    CANONICAL = "canonical"  # any variant but the one of links[0] is redirected to that one
    RESTLESS = "restless"  # every variant is redirected to the next


class Way(NamedTuple):
    """A link to a page, in one of its variants."""

    page: int
    variant: int


@dataclass(frozen=True)
class PageSpec:
    kind: Kind
    links: tuple[Way, ...]
    failures: int = 0


@cache
def target(way):
    return resolve(SITE + "/", SITE + VARIANTS[way.variant].format(way.page) if way.page else SITE + "/")


@cache
def page_of(key):
    return next(page for page in range(100) if target(Way(page, 0)).key == key)


def answer(web, page, url):
    """Return state, links and redirect of *page* requested by *url*, if it does not fail."""
    spec = web[page]
    variant = next(s for s in range(4) if target(Way(page, s)).url == url)
    if spec.kind is Kind.MOVED and spec.links:
        return State.MOVED, (), spec.links[0]
    if spec.kind is Kind.RESTLESS and page:
        return State.MOVED, (), Way(page, (variant + 1) % 4)
    if spec.kind is Kind.CANONICAL and page and spec.links and variant != spec.links[0].variant:
        return State.MOVED, (), Way(page, spec.links[0].variant)
    if spec.kind is Kind.GONE:
        return State.REFUSED, (), None
    return State.DONE, spec.links, None


class Row(NamedTuple):
    """The expected row of a page at the end."""

    url: str
    level: int
    state: State
    moved_to: int | None


def expected(web, max_level):
    """Crawl breadth first, one (level, hops) after the other, each page at its nearest level in its best variant."""
    found = {(0, 0): {0: target(Way(0, 0))}}
    insisted = {}  # what servers redirected a page's own URL to
    rows = {}
    links = {}
    too_deep = {}
    settled = set()  # pages that were requested: later discoveries do not change them

    def find(way, level, hops):
        if way.page in settled:
            return
        new = target(way)
        if way.page == BANNED:
            rows.setdefault(way.page, Row(new.normalized, level, State.REJECTED, None))
            return
        if max_level is not None and level > max_level:
            deep = too_deep.get(way.page, new)
            too_deep[way.page] = min(deep, new, key=lambda found: (variant_rank(found), found.url))
            rows[way.page] = Row(too_deep[way.page].url, level, State.REJECTED, None)
            return
        best = found.setdefault((level, hops), {}).get(way.page)
        if best is None or (variant_rank(new), new.url) < (variant_rank(best), best.url):
            found[level, hops][way.page] = new

    while found or insisted:
        level, hops = here = min([*found, *insisted])
        turn = {page: way for page, way in found.pop(here, {}).items() if page not in settled}
        settled |= set(turn)
        for page, way in (turn | insisted.pop(here, {})).items():
            if web[page].failures > MAX_ATTEMPTS:
                rows[page] = Row(way.url, level, State.FAILED, None)
                continue
            state, out, moved = answer(web, page, way.url)
            if moved is None:
                rows[page] = Row(way.url, level, state, None)
                for link in out:
                    links[page, link.page] = links.get((page, link.page), 0) + 1
                    find(link, level + 1, 0)
            elif hops >= MAX_HOPS or target(moved).url == way.url:
                rows[page] = Row(way.url, level, State.FAILED, None)
            elif moved.page == page:
                insisted.setdefault((level, hops + 1), {})[page] = target(moved)
            else:
                rows[page] = Row(way.url, level, State.MOVED, moved.page)
                find(moved, level, hops + 1)
    return rows, links


@st.composite
def webs(draw, most_pages=14):
    size = draw(st.integers(2, most_pages))
    ways = st.builds(Way, st.integers(0, size - 1), st.integers(0, 3))
    kinds = st.sampled_from([Kind.PAGE] * 6 + [Kind.MOVED, Kind.MOVED, Kind.CANONICAL, Kind.RESTLESS, Kind.GONE])
    failures = st.sampled_from([0] * 6 + [1, 2, 3])
    return tuple(
        PageSpec(draw(kinds) if page else Kind.PAGE, tuple(draw(st.lists(ways, max_size=6))), draw(failures))
        for page in range(size)
    )


def budget(examples):
    """Return a decorator with which a test tries that many *examples*, the same in each run, in any time."""
    checks = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=checks)
