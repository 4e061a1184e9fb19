"""The addresses of sites: a site may have several, such as http and https, with and without www."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.items import Target
from crawlers.urls.keys import page_key

if TYPE_CHECKING:
    from collections.abc import Iterable

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
        self.version = 0  # changes with every address

    def __bool__(self) -> bool:
        return bool(self._sites)

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
