"""Resolves the links of pages, with a cache of previously resolved links.

Pages of a site repeat the same links. Each page has a plain dict, and pages share two caches: one for links on pages of
the same directory (`b.html`, `../c/`), and one for links that mean the same on the whole site (`/b.html`, `http://…`),
which also has what the others were resolved to. Links relative to the page itself (``, `?q`, `#top`) are in no shared
cache, so a cached result is never used for a page for which it would be wrong. Links to other addresses of the site of
a page are links to that site.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import TYPE_CHECKING

from crawlers.errors import BadUrl
from crawlers.urls.addresses import SiteAddresses
from crawlers.urls.normalization import Normalization
from crawlers.urls.resolution import absolute, check_web, parsed, query_codec, target_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import can_ada

    from crawlers.items import Target

MAX_HREF = 2000  # characters; longer links are not cached, as most are data: and javascript:

_OF_THE_SITE = ("/", "http://", "https://")
# Relative to the page: an empty link, a query or a fragment, also after the page's own scheme (`http:?q`). The standard
# strips blanks first, so links with blanks at relevant positions also count as relative to the page.
_OF_THE_PAGE = re.compile(
    r"[\x00-\x20] | (?:https?:)?[\x00-\x20]*(?:[?#]|\Z) | [^\t\n\r]*[\t\n\r]", re.IGNORECASE | re.VERBOSE
)


def _is_of_the_page(href: str) -> bool:
    if href and href.isprintable() and href[0] not in "?# hH":
        return False  # most links; the expression takes as long as joining the URL
    return _OF_THE_PAGE.match(href) is not None


class _Shared(dict[str, "Target | BadUrl"]):
    """Resolved links that pages share, by their text."""

    __slots__ = ("is_kept",)

    def __init__(self) -> None:
        self.is_kept = True  # until it is dropped from the cache


class PageLinks(dict[str, "Target | BadUrl"]):
    """The resolved links of one page, by their text; missing ones are looked up in the shared caches."""

    __slots__ = ("_base", "_codec", "_directory", "_here", "_resolver", "_site")

    def __init__(
        self,
        base: can_ada.URL,
        codec: str | None,
        here: str,
        directory: _Shared,
        site: _Shared,
        resolver: LinkResolver,
    ) -> None:
        self._base = base
        self._here = here
        self._codec = codec
        self._directory = directory
        self._site = site
        self._resolver = resolver

    def add(self, hrefs: Iterable[str]) -> None:
        """Resolve those of *hrefs* that other pages have, with any fragment."""
        directory, site = self._directory, self._site
        for href in hrefs:
            found = directory.get(href) or site.get(href)
            if found is None and (mark := href.find("#")) > 0 and href[mark - 1] > " ":
                bare = href[:mark]
                found = directory.get(bare) or site.get(bare)
            if found is not None:
                self[href] = found

    def __missing__(self, href: str) -> Target | BadUrl:
        mark = href.find("#")
        if mark == 0 or (mark > 0 and href[mark - 1] > " "):
            found = self[href] = self[href[:mark]]
            return found
        found = self._directory.get(href) or self._site.get(href) or self._resolve(href)
        if len(href) > MAX_HREF:
            return found
        self[href] = found
        if href.startswith(_OF_THE_SITE):
            self._share(self._site, href, found)
        elif not _is_of_the_page(href):
            self._share(self._directory, href, found)
        return found

    def _resolve(self, href: str) -> Target | BadUrl:
        try:
            url = absolute(self._base, href, self._codec)
            found = self._site.get(url)  # from another directory
            if found is None:
                found = self._resolver.own(target_of(url, self._resolver.options), self._here)
                self._share(self._site, url, found)
        except BadUrl as error:
            return BadUrl(error.reason)  # without the traceback, which would keep stack frames alive
        return found

    def _share(self, shared: _Shared, href: str, found: Target | BadUrl) -> None:
        if shared.is_kept and href not in shared:  # else it was dropped from the cache in the meantime
            shared[href] = found
            self._resolver.entries += 1


class LinkResolver:
    """Resolves links like `resolution.resolve`, with a cache of about *cache_size* links.

    An entry takes some 400 bytes. The links of pages that are being processed may exceed the limit. *addresses* are
    those of sites that have several; *across_sites*: links to an address of another site are links to that site, too.
    """

    def __init__(
        self,
        options: Normalization | None = None,
        cache_size: int = 100_000,
        addresses: SiteAddresses | None = None,
        *,
        across_sites: bool = False,
    ) -> None:
        self.options = options or Normalization()
        self._addresses = addresses if addresses is not None else SiteAddresses()
        self._version = self._addresses.version
        self._across_sites = across_sites
        self._cache_size = cache_size
        self.entries = 0  # in all shared caches
        self._shared: OrderedDict[tuple[str, str | None, str], _Shared] = OrderedDict()

    def fresh(self) -> LinkResolver:
        """Return a resolver like this one with a cache of its own, for another thread."""
        return LinkResolver(self.options, self._cache_size, self._addresses, across_sites=self._across_sites)

    def own(self, target: Target, here: str) -> Target:
        """Return the *target* of a link on a page of the site *here* as a page of the site that has its address."""
        if not self._addresses.version:
            return target
        return self._addresses.of_site(target) if self._across_sites else self._addresses.of_page(target, here)

    def directory(self, base_url: str, encoding: str | None = None, here: str | None = None) -> PageLinks:
        """Return the links of a page: `links[href]` is the target, or a `BadUrl` with the reason why there is none.

        *base_url* is the URL of the page, or that of its `<base>`; *encoding* is the charset of the page by its Python
        name; *here* is the site of the page, if it is not that of *base_url*. Raises `BadUrl` if *base_url* is not http
        or https.
        """
        base = parsed(base_url)
        head = base.href.partition("#")[0].partition("?")[0]
        check_web(head)
        codec = query_codec(encoding)
        if not self._addresses.version:
            here = ""
        else:
            here = here or self._addresses.site(target_of(head, self.options).site)
            self._drop_outdated()
        # The key of a site has no trailing slash, that of a directory has one, so they never collide.
        site = self._shared_by(head[: head.find("/", 8)], codec, here)
        directory = self._shared_by(head[: head.rfind("/") + 1], codec, here)
        self._forget()
        return PageLinks(base, codec, here, directory, site, self)

    def _shared_by(self, base: str, codec: str | None, here: str) -> _Shared:
        key = (base, codec, here)
        shared = self._shared.get(key)
        if shared is None:
            shared = self._shared[key] = _Shared()
        else:
            self._shared.move_to_end(key)
        return shared

    def _drop_outdated(self) -> None:
        """Drop all shared caches if a site got another address since the last page."""
        if self._version != self._addresses.version:
            self._version = self._addresses.version
            self.clear()

    def clear(self) -> None:
        """Drop all shared caches."""
        for shared in self._shared.values():
            shared.is_kept = False
        self._shared.clear()
        self.entries = 0

    def _forget(self) -> None:
        """Drop the least recently used shared caches until the limit is met; the two in use come last."""
        while self._shared and self.entries + len(self._shared) > self._cache_size:
            _, shared = self._shared.popitem(last=False)
            shared.is_kept = False
            self.entries -= len(shared)
