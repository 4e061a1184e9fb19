"""Links between the sites of a crawl and to other sites are counted by group, once for each page and URL."""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import update

from crawlers.graphs.web_fragment import Inward, Outward, count_fragment
from crawlers.items import State
from crawlers.store.schema.tables import ExternalLinkRow, ExternalUrlRow, page
from crawlers.urls.domains import host_group
from crawlers.urls.keys import url_key
from crawlers.urls.resolution import resolve
from tests.support.stored_rows import add_sites, ended_page, execute, new_page, page_ids, write_rows

_crawls = count(1)

A, B = "http://a.example", "http://b.example"
OUT, FAR = "http://out.example", "http://far.example"


class Stored(NamedTuple):
    """A page of a site and its links: (site, path, number of the URL variant, count)."""

    site: str
    links: tuple[tuple[str, str, int, int], ...] = ()
    body: str | None = None  # equal bodies are duplicates; None = the page is a redirect
    duplicates: int = 0


def store(database, pages, sites=()):
    """Store a new crawl, and return its number."""
    crawl_id = next(_crawls)
    names = dict.fromkeys((*sites, *(one.site for one in pages)))
    site_ids = {name: add_sites(database, crawl_id, name)[0].id for name in names}
    for number, one in zip(page_ids(database, len(pages)), pages, strict=True):
        state = State.REFUSED if one.body is None else State.DONE
        content_hash = one.body and one.body.encode().hex()
        write_rows(database, new_page(number, site_ids[one.site]), ended_page(number, state, content_hash=content_hash))
        execute(database, update(page).where(page.c.id == number).values(duplicates=one.duplicates))
        for context, (target, path, variant, links) in enumerate(one.links):
            url = f"{target}/{path}{'#' * variant}"
            address = ExternalUrlRow(url_key(url), target, url, resolve(url, "").key)
            write_rows(database, address, ExternalLinkRow(number, url_key(url), context, links))
    return crawl_id


def test_the_target_set_comes_first_by_name_then_the_most_linked_sites(database):
    pages = [
        Stored(B, ((OUT, "x", 0, 2), (FAR, "1", 0, 1), (FAR, "2", 0, 1), (A, "", 0, 3)), "b"),
        Stored(A, ((OUT, "x", 0, 1), (OUT, "y", 0, 1)), "a"),
    ]
    counts = count_fragment(database, store(database, pages, ("http://c.example",)), host_group)
    assert counts.sites == ["a.example", "b.example", "c.example", "out.example", "far.example"]
    assert (counts.targets, counts.accompanying) == (range(1, 4), range(4, 6))
    assert counts.inward == [
        Inward(1, 1, 3, f"{A}/"),
        Inward(),
        Inward(),
        Inward(2, 2, 4, f"{OUT}/x"),
        Inward(1, 2, 2, f"{FAR}/1"),
    ]
    assert counts.outward == [Outward(1, 0, 2), Outward(1, 0, 4), Outward()]
    assert list(counts.pairs) == [(1, 4, 2, 2), (2, 1, 1, 3), (2, 4, 1, 2), (2, 5, 2, 2)]


def test_equal_pages_count_once_whether_their_rows_are_kept_or_not(database):
    links = ((OUT, "x", 0, 2),)
    kept = store(database, [Stored(A, links, "same"), Stored(A, links, "same"), Stored(B, links, "same")])
    given_up = store(database, [Stored(A, links, "same", duplicates=1), Stored(B, links, "same")])
    for crawl_id in (kept, given_up):
        counts = count_fragment(database, crawl_id, host_group)
        assert list(counts.pairs) == [(1, 3, 1, 2), (2, 3, 1, 2)]
        assert counts.outward == [Outward(1, 1, 1), Outward(1, 0, 1)]


SITES = st.sampled_from([A, B, "https://a.example", "http://c.example", OUT, "https://out.example", FAR])
LINKS = st.lists(st.tuples(SITES, st.sampled_from("xy"), st.integers(0, 1), st.integers(1, 3)), max_size=6)
PAGES = st.lists(st.tuples(st.sampled_from([A, B, "https://a.example"]), LINKS), max_size=6)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PAGES)
def test_the_counts_are_those_of_a_plain_loop(sqlite, drawn):
    pages = [Stored(site, tuple(links), f"{number}") for number, (site, links) in enumerate(drawn)]
    urls = {}
    links = {}
    for site, outward in drawn:
        for target, path, _, number in outward:
            pair = host_group(site), host_group(target)
            if pair[0] != pair[1]:
                urls.setdefault(pair, set()).add((target, path))
                links[pair] = links.get(pair, 0) + number
    counts = count_fragment(sqlite, store(sqlite, pages), host_group)
    found = {(counts.sites[s - 1], counts.sites[t - 1]): (u, n) for s, t, u, n in counts.pairs}
    assert found == {pair: (len(urls[pair]), links[pair]) for pair in links}
    for number in counts.accompanying:
        name, inward = counts.sites[number - 1], counts.inward[number - 1]
        sources = [pair for pair in urls if pair[1] == name]
        everything = set().union(*(urls[pair] for pair in sources))
        total = sum(links[pair] for pair in sources)
        assert inward[:3] == (len(sources), len(everything), total)
    ranks = [(-i.target_sites, -i.urls) for i in counts.inward[len(counts.targets) :]]
    assert ranks == sorted(ranks)
