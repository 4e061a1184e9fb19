"""Which network addresses a crawl may connect to, lest a page leads it into private networks; the addresses of sites.

A page, a redirect or the DNS of a foreign domain may name an address that only the machine of the crawler can reach: a
router, a database, the metadata service of a cloud (server-side request forgery). Names are judged by the addresses to
which they resolve, when a connection is made; so it does not matter how an address is written, or which name stands for
it.

A site may have several addresses, such as http and https, with and without www.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawlers.items import Target
from crawlers.urls.keys import page_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from ipaddress import IPv4Network, IPv6Network

# IANA's registries of special-purpose addresses (RFC 6890); those of one name belong together.
_NETWORKS: tuple[tuple[str, tuple[IPv4Network | IPv6Network, ...]], ...] = tuple(
    (name, tuple(ip_network(network) for network in networks.split()))
    for name, networks in (
        ("loopback", "127.0.0.0/8 ::1/128"),
        ("private 10.0.0.0/8", "10.0.0.0/8"),
        ("private 172.16.0.0/12", "172.16.0.0/12"),
        ("private 192.168.0.0/16", "192.168.0.0/16"),
        ("unique local", "fc00::/7"),
        ("link-local", "169.254.0.0/16 fe80::/10"),
        ("shared (carrier-grade NAT)", "100.64.0.0/10"),
        ("unspecified", "0.0.0.0/8 ::/128"),
        ("multicast", "224.0.0.0/4 ff00::/8"),
        ("site-local", "fec0::/10"),
        ("documentation", "3fff::/20"),  # RFC 9637, as is the next newer than what Python knows
        ("segment routing", "5f00::/16"),  # RFC 9602
        ("reserved", "240.0.0.0/4 ::/96"),  # ::/96: IPv4-compatible addresses, deprecated by RFC 4291
    )
)
# The last 32 bits are IPv4: NAT64 (RFC 6052, RFC 8215) and IPv4-translated addresses (RFC 2765 section 2.1).
_TRANSLATED = tuple(ip_network(network) for network in ("64:ff9b::/96", "64:ff9b:1::/48", "::ffff:0:0:0/96"))
_LOCAL_NAMES = ("localhost", ".localhost")  # RFC 6761 section 6.3


@lru_cache(1_000)
def network_of(address: str) -> str | None:
    """Return the name of the network of *address* if it is not part of the public internet; None if it is.

    IPv6 addresses that stand for IPv4 addresses (mapped, translated, 6to4, Teredo, NAT64) count as these. Raises
    `ValueError` if *address* is not an address.

    >>> network_of("93.184.216.34"), network_of("127.8.0.1"), network_of("::ffff:10.1.2.3")
    (None, 'loopback', 'private 10.0.0.0/8')
    """
    ip = _embedded(ip_address(address))
    for name, networks in _NETWORKS:
        if any(ip in network for network in networks):
            return name
    return None if ip.is_global else f"special-purpose {ip}"


def _embedded(ip: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    if isinstance(ip, IPv4Address):
        return ip
    if any(ip in network for network in _TRANSLATED):
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else ip)


class AddressGuard:
    """Decides to which addresses hosts may be connected. *seeds* are URLs that the user gave.

    Public addresses are always allowed. A seed may use the network in which it was first found, so an intranet can be
    crawled. Other hosts may use these networks as well, unless a seed is public: then a page of the web could lead the
    crawl there. Later answers of the DNS open nothing: a seed that was public once stays so (DNS rebinding).

    Later processes of the crawl, and other workers, need the networks of seeds as well: *note* is called with a host
    and its networks when they are found, and `recall` adds those that were found before. If *refuses* is not set, all
    addresses are allowed.
    """

    def __init__(
        self,
        seeds: Iterable[str] = (),
        *,
        refuses: bool = True,
        note: Callable[[str, frozenset[str]], object] = lambda host, networks: None,
    ) -> None:
        self._refuses = refuses
        self._note = note
        self.seeds: set[str] = set()  # their hosts
        self._proxies: set[tuple[str, int]] = set()
        self._networks: dict[str, frozenset[str]] = {}  # of seeds, where they were first found; empty: public
        self._open: set[str] = set()  # the networks of all seeds
        self._has_public_seed = False
        for seed in seeds:
            self.add_seed(seed)

    def add_seed(self, url: str) -> None:
        """Add a seed that the user gave."""
        host = host_of(url)
        self.seeds.add(host)
        if host.endswith(_LOCAL_NAMES):
            self._found(host, ["127.0.0.1"])
        elif is_address(host):
            self._found(host, [host])

    def add_proxy(self, host: str, port: int) -> None:
        """Allow all addresses of *host* at *port*: a proxy that the user configured."""
        self._proxies.add((host.lower(), port))

    def is_proxy(self, host: str, port: int) -> bool:
        """Return whether only requests by way of a proxy may be sent to *host* at *port*."""
        return self._refuses and (host.lower(), port) in self._proxies

    def admitted(self, host: str, addresses: Iterable[str], port: int | None = None) -> list[str]:
        """Return those of the *addresses* of *host* to which it may be connected at *port*."""
        addresses = list(addresses)
        host = host.lower()
        if not self._refuses or not addresses or (host, port) in self._proxies:
            return addresses
        if host in self.seeds and self._found(host, addresses):
            self._note(host, self._networks[host])
        allowed = self._networks.get(host, frozenset())
        if not self._has_public_seed:
            allowed |= self._open
        return [one for one in addresses if (network := network_of(one)) is None or network in allowed]

    def recall(self, networks: Mapping[str, frozenset[str]]) -> None:
        """Add the *networks*, by host, in which this or other processes found seeds; none: the seed was public."""
        for host, its in networks.items():
            if self._networks.get(host) != frozenset():
                self._networks[host] = its
                self._open |= its
                self._has_public_seed |= not its

    def _found(self, seed: str, addresses: Iterable[str]) -> bool:
        """Return whether *seed* was not found before, or is public for the first time."""
        known = self._networks.get(seed)
        if known == frozenset():
            return False
        networks = {network_of(address) for address in addresses}
        if known and None not in networks:
            return False
        self.recall({seed: frozenset() if None in networks else frozenset(filter(None, networks))})
        return True


@lru_cache(maxsize=1_000)  # several times for each request
def is_address(host: str) -> bool:
    """Return whether *host* is an IP address rather than a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def host_of(url: str) -> str:
    """Return the host of *url*, as an `AddressGuard` knows it."""
    return (urlsplit(url).hostname or "").lower()


def parents(host: str) -> Iterator[str]:
    """Yield *host*, and all domains above it.

    >>> list(parents("www.example.org"))
    ['www.example.org', 'example.org', 'org']
    """
    while host:
        yield host
        host = host.partition(".")[2]


_SHORTEST = len("http://h")  # the path begins behind it


class SiteAddresses:
    """The addresses (scheme://host[:port]) of those sites that have several.

    A page has one key under all addresses of its site: that of its normal form under the name of the site. So a site
    may get further addresses later. Normal forms have the *preferred* address, from which variants are requested if
    they were found under several.

    >>> from crawlers.urls.resolution import resolve
    >>> addresses = SiteAddresses()
    >>> addresses.set("http://a.example", ["http://a.example", "https://www.a.example"], "https://www.a.example")
    >>> target = addresses.of_page(resolve("https://www.a.example/x", ""), "http://a.example")
    >>> target.url, target.normalized, target.site
    ('https://www.a.example/x', 'https://www.a.example/x/', 'http://a.example')
    >>> target.key == resolve("http://a.example/x", "").key
    True
    """

    def __init__(self) -> None:
        self._sites: dict[str, str] = {}  # by address
        self._preferred: dict[str, str] = {}  # by site
        self.version = 0  # changes with every address; 0: no site has several

    def set(self, site: str, addresses: Iterable[str], preferred: str) -> None:
        """Let *site* have these *addresses*, itself among them; *preferred* is one of them."""
        found = list(addresses)
        if found == [site]:
            return
        self._sites.update(dict.fromkeys(found, site))
        self._preferred[site] = preferred
        self.version += 1

    def site(self, address: str) -> str:
        """Return the site that has the *address*."""
        return self._sites.get(address, address)

    def of_page(self, target: Target, here: str) -> Target:
        """Return *target* as a page of the site *here* if one of its addresses leads there; otherwise unchanged."""
        return self.of_site(target) if self.site(target.site) == here else target

    def of_site(self, target: Target) -> Target:
        """Return *target* as a page of the site that has its address; unchanged if no site has it."""
        site = self._sites.get(target.site)
        if site is None:
            return target
        path = target.normalized[target.normalized.find("/", _SHORTEST) :]
        return Target(target.url, f"{self._preferred[site]}{path}", page_key(f"{site}{path}"), site)
