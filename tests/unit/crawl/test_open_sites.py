"""Links open the sites of the scope; links to other sites become external."""

from __future__ import annotations

from types import SimpleNamespace

from crawlers.items import Page, SiteLimits, State
from crawlers.store.sites.site_opening import SiteRow
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.resolution import resolve
from tests.support.opened_crawl import NOW, SITE
from tests.unit.conftest import open_sites


def sites_of(left_out, most):
    """Return the sites of a crawl, and the names of those that it opens."""
    opened = []

    def add_site(name, leaders, changes):
        assert name != left_out
        return SiteRow(len(opened) + 1, name, 1, None, 0.0, is_new=True)

    def open_site(state, now, start):
        opened.append(state.site)

    row, claims = SimpleNamespace(excluded=frozenset([left_out])), SimpleNamespace(is_divided=False)
    crawl = {"add_site": add_site, "row": row, "claims": claims, "most_sites": most}
    return open_sites(open_site, **crawl)[1], opened


def page(*names, moved_to=None):
    return Page(
        *(1, "http://a.test/", 0, State.MOVED if moved_to else State.DONE),
        cross_site_links=[(resolve(f"http://{name}.test/", "x"), 1) for name in names],
        moved_to=resolve(moved_to, "") if moved_to else None,
    )


def test_links_to_sites_that_the_list_omits_are_external():
    sites, opened = sites_of("http://gone.test", most=10)
    found = sites.open_cross_site(page("b", "gone", "b", "c"), 0.0, ChangeSet())
    assert opened == ["http://b.test", "http://c.test"]
    assert [target.site for target, _ in found.cross_site_links] == ["http://b.test", "http://b.test", "http://c.test"]
    assert [link.url for link, _ in found.external] == ["http://gone.test/x"]


def test_redirect_to_a_site_that_the_list_omits_is_refused():
    sites, opened = sites_of("http://gone.test", most=10)
    found = sites.open_cross_site(page(moved_to="http://gone.test/"), 0.0, ChangeSet())
    assert (opened, found.state, found.moved_to) == ([], State.REFUSED, None)
    assert found.reason == "redirect_to_other_site http://gone.test/"


def test_sites_that_the_list_omits_do_not_count_towards_the_limit():
    sites, opened = sites_of("http://gone.test", most=2)
    sites.open_cross_site(page("gone", "b", "c"), 0.0, ChangeSet())
    assert opened == ["http://b.test", "http://c.test"]


def test_start_pages_and_roots_are_leased_first(opened):
    crawl = opened({"sites": [SiteLimits(SITE, start_url=f"{SITE}/ru/")], "roots": [f"{SITE}/map"]})
    assert [crawl.lease().url, crawl.lease().url] == [f"{SITE}/ru/", f"{SITE}/map"]
    assert crawl.crawl.leasing.next(NOW) is None
