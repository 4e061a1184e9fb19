"""External links to an address that the site got later become links of the site."""

import pytest
from sqlalchemy import select

from crawlers.items import State
from crawlers.store.schema.tables import ExternalLinkRow, ExternalUrlRow, LinkContextRow, external_link, link, page
from crawlers.store.sites.page_selection import OwnUrl, adopt_links, own_urls
from tests.support.stored_rows import add_sites, committed, new_page, write_rows

pytestmark = pytest.mark.both_stores

SITE, ALIAS = "http://a.test", "https://www.a.test"
DONE, REFUSED = State.DONE, State.REFUSED


@pytest.fixture
def site_id(database):
    """The number of a site with three pages, one of which redirects; another has one; all have external links."""
    (row,) = add_sites(database, 1, SITE)
    urls = [
        ExternalUrlRow(1, ALIAS, f"{ALIAS}/x", 1),
        ExternalUrlRow(2, ALIAS, f"{ALIAS}/x/", 2),
        ExternalUrlRow(3, ALIAS, f"{ALIAS}/moved", 3),
        ExternalUrlRow(4, "http://b.test", "http://b.test/", 4),
    ]
    tags = ((1, "one", "a"), (2, "two", "a"), (3, "", "redirect"))
    contexts = [LinkContextRow(number, anchor, "", "", "", tag) for number, anchor, tag in tags]
    states = ((10, 2, DONE), (11, 1, DONE), (12, 1, REFUSED))
    own = [new_page(number, row.id, state, level=level) for number, level, state in states]
    links = [(10, 1, 1, 2), (10, 2, 1, 1), (10, 2, 2, 4), (11, 1, 1, 1), (11, 4, 1, 1), (12, 3, 3, 1), (13, 1, 1, 7)]
    external = (ExternalLinkRow(*one) for one in links)
    write_rows(database, *urls, *contexts, *own, new_page(13, row.id + 1, DONE), *external)
    return row.id


def test_own_urls_have_the_level_of_the_nearest_page(database, site_id):
    assert sorted(own_urls(database, site_id, [SITE, ALIAS])) == [
        OwnUrl(1, f"{ALIAS}/x", 2, 11),
        OwnUrl(2, f"{ALIAS}/x/", 3, 10),
        OwnUrl(3, f"{ALIAS}/moved", 1, 12),  # a redirect is not a click
    ]
    assert own_urls(database, site_id, [SITE]) == []


def test_links_and_redirects_lead_to_the_pages_of_the_site(database, site_id):
    write_rows(database, new_page(20, site_id, level=2), new_page(21, site_id, level=1))
    for _ in range(2):  # as after a kill: the second time nothing is left to do
        committed(adopt_links, database, site_id, {1: 20, 2: 20, 3: 21})
        assert database.rows(select(link).order_by(link.c.source_id)) == [(10, 20, 7), (11, 20, 1)]
        assert database.rows(select(page.c.state, page.c.moved_to).where(page.c.id == 12)) == [(State.MOVED, 21)]
        left = database.rows(select(external_link.c.page_id, external_link.c.url_id))
        assert sorted(left) == [(11, 4), (13, 1)]
