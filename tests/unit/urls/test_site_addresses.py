"""Sites with several addresses: a path has one key, and links between them are links of the site."""

import pytest

from crawlers.urls.addresses import SiteAddresses
from crawlers.urls.link_resolver import LinkResolver
from crawlers.urls.resolution import resolve, variant_rank

HTTP, HTTPS, WWW, OTHER = "http://a.example", "https://a.example", "https://www.a.example", "http://b.example"


@pytest.fixture
def addresses():
    found = SiteAddresses()
    found.set(HTTP, [HTTP, HTTPS, WWW], WWW)
    return found


@pytest.mark.parametrize("address", [HTTP, HTTPS, WWW])
@pytest.mark.parametrize("path", ["/", "/x", "/x/?b=1&a=2", "//x/../y"])
def test_path_has_the_key_of_the_site_s_own_address(addresses, address, path):
    target = addresses.of_page(resolve(address, path if path[:2] != "//" else f"{address}{path}"), HTTP)
    own = resolve(HTTP, path if path[:2] != "//" else f"{HTTP}{path}")
    assert (target.site, target.key) == (HTTP, own.key)
    assert target.url.startswith(f"{address}/")
    assert target.normalized == own.normalized.replace(HTTP, WWW)


def test_pages_of_other_sites_are_left_alone(addresses):
    for url in (f"{OTHER}/x", "http://www.a.example/x", "https://a.example:8443/x", "http://a.example.org/"):
        target = resolve(url, "")
        assert addresses.of_page(target, HTTP) is target
        assert addresses.of_site(target) is target
    inside = resolve(f"{WWW}/x", "")
    assert addresses.of_page(inside, OTHER) is inside  # a link from another site is external
    assert addresses.of_site(inside).site == HTTP


def test_site_with_one_address_costs_nothing():
    addresses = SiteAddresses()
    addresses.set(HTTP, [HTTP], HTTP)
    assert not addresses
    assert addresses.version == 0


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (f"{WWW}/x/", f"{HTTP}/x/"),
        (f"{WWW}/x", f"{HTTP}/x/"),
        (f"{WWW}/x/?b", f"{HTTP}/x"),
        (f"{HTTP}/x/", f"{HTTPS}/x"),
    ],
)
def test_variant_at_the_preferred_address_is_requested(addresses, better, worse):
    one, two = (addresses.of_site(resolve(url, "")) for url in (better, worse))
    assert (variant_rank(one), one.url) < (variant_rank(two), two.url)


def test_links_are_those_of_the_page_s_site_even_after_it_got_an_address(addresses):
    mine = SiteAddresses()
    resolver = LinkResolver(addresses=mine)
    assert resolver.directory(f"{HTTPS}/d/")["/x"].site == HTTPS
    mine.set(HTTP, [HTTP, HTTPS, WWW], WWW)
    links = resolver.directory(f"{HTTPS}/d/")
    assert {links[href].site for href in ("/x", "y", "?z", f"{WWW}/", f"{HTTP}/")} == {HTTP}
    assert links[f"{OTHER}/"].site == OTHER
    assert resolver.directory(f"{OTHER}/")[f"{WWW}/"].site == WWW
    assert LinkResolver(addresses=mine, across_sites=True).directory(f"{OTHER}/")[f"{WWW}/"].site == HTTP
    assert resolver.directory(f"{OTHER}/d/", here=HTTP)[f"{WWW}/"].site == HTTP  # a page with a foreign <base>
