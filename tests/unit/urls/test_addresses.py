"""Which addresses are public, and to which of the others a crawl may be connected.

Sites with several addresses: a path has one key, and links between them are links of the site.
"""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.urls.addresses import AddressGuard, SiteAddresses, network_of
from crawlers.urls.link_resolver import LinkResolver
from crawlers.urls.resolution import resolve, variant_rank

NETWORKS = {
    "loopback": ["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "2002:7f00:1::1"],
    "private 10.0.0.0/8": ["10.0.0.1", "10.255.255.255", "::ffff:10.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::a00:1"],
    "private 172.16.0.0/12": ["172.16.0.1", "172.31.255.255"],
    "private 192.168.0.0/16": ["192.168.0.1", "192.168.255.255"],
    "unique local": ["fc00::1", "fdff::1"],
    "documentation": ["3fff::1", "3fff:fff:ffff::1"],
    "segment routing": ["5f00::1", "5f00:ffff::1"],
    "link-local": ["169.254.169.254", "fe80::1", "fe80::1%eth0", "febf::1"],
    "shared (carrier-grade NAT)": ["100.64.0.1", "100.127.255.255"],
    "unspecified": ["::ffff:0:0.0.0.0", "0.0.0.0", "0.1.2.3", "::"],
    "multicast": ["224.0.0.1", "239.255.255.255", "ff02::1"],
    "site-local": ["fec0::1"],
    "reserved": ["240.0.0.1", "255.255.255.255", "::10.0.0.1"],
}
PUBLIC = ["93.184.216.34", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.1", "192.167.1.1"]
PUBLIC += [
    "223.255.255.255",
    "2606:2800:220:1::1",
    "::ffff:8.8.8.8",
    "2002:808:808::1",
    "64:ff9b::808:808",
    "::ffff:0:8.8.8.8",
]


FURTHER = ["192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "192.0.0.1", "2001:db8::1"]


@pytest.mark.parametrize(
    ("network", "address"),
    [
        *((name, one) for name, addresses in NETWORKS.items() for one in addresses),
        *((f"special-purpose {one}", one) for one in FURTHER),
        *((None, one) for one in PUBLIC),
    ],
)
def test_addresses_that_are_not_public_have_a_network(network, address):
    assert network_of(address) == network


@given(st.ip_addresses())
def test_only_addresses_that_python_calls_global_are_public(ip):
    if network_of(str(ip)) is None:
        assert ip.is_global or ip.version == 6
        assert not ip.is_multicast


@given(st.ip_addresses(v=4))
def test_mapped_addresses_are_those_that_they_stand_for(ip):
    for prefix in (0xFFFF_0000_0000, 0xFFFF_0000_0000_0000):  # IPv4-mapped, IPv4-translated
        assert network_of(str(ipaddress.IPv6Address(prefix + int(ip)))) == network_of(str(ip))


def test_hosts_that_nobody_listed_have_public_addresses_only():
    guard = AddressGuard(["http://example.com/"])
    assert guard.admitted("other.example", ["93.184.216.34"]) == ["93.184.216.34"]
    assert guard.admitted("other.example", ["10.0.0.1", "93.184.216.34", "::1"]) == ["93.184.216.34"]
    assert guard.admitted("other.example", ["127.0.0.1"]) == []


@pytest.mark.parametrize(
    "seed", ["http://127.0.0.1:8000", "http://localhost", "http://app.localhost/x", "http://[::1]/"]
)
def test_seed_on_loopback_opens_loopback_for_all_and_nothing_else(seed):
    assert AddressGuard([seed]).admitted("x.example", ["127.0.0.2", "::1", "10.0.0.1"]) == ["127.0.0.2", "::1"]


def test_name_of_an_intranet_opens_its_network_once_it_is_resolved():
    guard = AddressGuard(["http://wiki.corp/"])
    assert guard.admitted("git.corp", ["10.9.9.9"]) == []
    assert guard.admitted("wiki.corp", ["10.1.2.3"]) == ["10.1.2.3"]
    assert guard.admitted("git.corp", ["10.9.9.9"]) == ["10.9.9.9"]
    assert guard.admitted("git.corp", ["192.168.0.1"]) == []


def test_public_seed_closes_the_networks_of_others_to_hosts_that_nobody_listed():
    guard = AddressGuard(["http://wiki.corp/", "http://example.com/"])
    guard.admitted("wiki.corp", ["10.1.2.3"])
    guard.admitted("example.com", ["93.184.216.34"])
    assert guard.admitted("found.example", ["10.1.2.3"]) == []
    assert guard.admitted("wiki.corp", ["10.1.2.3"]) == ["10.1.2.3"]


def test_seed_that_was_public_once_stays_so_whoever_saw_it():
    seen = []
    guard = AddressGuard(["http://a.test/"], note=lambda *found: seen.append(found))
    assert guard.admitted("a.test", ["10.1.2.3"])
    assert guard.admitted("a.test", ["10.1.2.4"])
    assert guard.admitted("a.test", ["93.184.216.34"])
    assert guard.admitted("a.test", ["10.1.2.3", "93.184.216.34"]) == ["93.184.216.34"]
    assert seen == [("a.test", frozenset({"private 10.0.0.0/8"})), ("a.test", frozenset())]
    guard.recall({"a.test": frozenset({"loopback"})})  # by a worker that did not know
    assert guard.admitted("a.test", ["127.0.0.1"]) == []


def test_networks_that_others_found_are_those_of_the_seed():
    guard = AddressGuard(["http://a.test/", "http://wiki.corp/"])
    guard.recall({"a.test": frozenset(), "wiki.corp": frozenset({"private 10.0.0.0/8"})})
    assert guard.admitted("a.test", ["127.0.0.1"]) == []
    assert guard.admitted("wiki.corp", ["127.0.0.1", "10.9.9.9"]) == ["10.9.9.9"]
    assert guard.admitted("found.example", ["10.9.9.9"]) == [], "another seed is public"


def test_crawl_without_the_setting_uses_any_address_and_others_those_of_their_proxies_with_their_ports():
    assert AddressGuard(refuses=False).admitted("found.example", ["127.0.0.1"]) == ["127.0.0.1"]
    guard = AddressGuard(["http://example.com/"])
    guard.add_proxy("Proxy.corp", 3128)
    assert guard.admitted("proxy.corp", ["10.0.0.1"], 3128) == ["10.0.0.1"]
    assert guard.admitted("proxy.corp", ["10.0.0.1"], 80) == []
    assert guard.admitted("other.corp", ["10.0.0.1"], 3128) == []
    assert (guard.is_proxy("PROXY.corp", 3128), guard.is_proxy("proxy.corp", 80)) == (True, False)


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
