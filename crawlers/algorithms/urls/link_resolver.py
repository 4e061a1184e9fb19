"""Links of one page after the other, resolved from memory where a link was seen before.

Pages of a site repeat the same links: a page's own table of them is a plain dict, behind it stand two that
pages share. One holds what is relative to the directory of the page (`b.html`, `../c/`), the other what is
the same on the whole site (`/b.html`, `http://…`). What depends on the very page (``, `?q`, `#top`) is in no
shared one, so the memory can never answer for another page.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import TYPE_CHECKING

from crawlers.algorithms.urls.normalization import Normalization
from crawlers.algorithms.urls.resolution import absolute, check_web, parsed, query_codec, target_of
from crawlers.errors import BadUrl

if TYPE_CHECKING:
    from collections.abc import Mapping

    import can_ada

    from crawlers.items import Target

HREF_MAX = 2000  # longer texts are not kept; they are mostly data: and javascript:

_OF_THE_SITE = ("/", "http://", "https://")
# Relative to the page: nothing, a query or a fragment, also behind its own scheme (`http:?q`). Blanks are
# stripped by the standard before it looks, so what holds any at a place that matters counts as relative, too.
_OF_THE_PAGE = re.compile(
    r"[\x00-\x20] | (?:https?:)?[\x00-\x20]*(?:[?#]|\Z) | [^\t\n\r]*[\t\n\r]", re.IGNORECASE | re.VERBOSE
)


def _is_of_the_page(href: str) -> bool:
    if href and href.isprintable() and href[0] not in "?# hH":
        return False  # most links; the expression costs as much as joining the URL
    return _OF_THE_PAGE.match(href) is not None


class _Shared(dict[str, "Target | BadUrl"]):
    """Links that several pages understand alike."""

    __slots__ = ("is_kept",)

    def __init__(self) -> None:
        self.is_kept = True


class _PageLinks(dict[str, "Target | BadUrl"]):
    """The links of one page by their raw text; what is not there yet comes from the shared ones."""

    __slots__ = ("_base", "_codec", "_directory", "_resolver", "_site")

    def __init__(
        self, base: can_ada.URL, codec: str | None, directory: _Shared, site: _Shared, resolver: LinkResolver
    ) -> None:
        self._base = base
        self._codec = codec
        self._directory = directory
        self._site = site
        self._resolver = resolver

    def __missing__(self, href: str) -> Target | BadUrl:
        found = self._directory.get(href) or self._site.get(href) or self._resolve(href)
        if len(href) <= HREF_MAX:
            self[href] = found
        return found

    def _resolve(self, href: str) -> Target | BadUrl:
        mark = href.find("#")
        if mark >= 0 and href[mark - 1 : mark] > " ":
            found = self[href[:mark]]
        else:
            try:
                url = absolute(self._base, href, self._codec)
                found = target_of(url, self._resolver.options)
            except BadUrl as error:
                found = BadUrl(str(error))  # without the traceback, which would keep frames alive
        if len(href) > HREF_MAX:
            return found
        if href.startswith(_OF_THE_SITE):
            self._resolver.keep(self._site, href, found)
        elif not _is_of_the_page(href):
            self._resolver.keep(self._directory, href, found)
        return found


class LinkResolver:
    """Resolves links as `urls.resolve` does, with a memory of at most about *cache_size* links.

    An entry takes some 400 bytes. The bound may be passed by the links of the pages in work.
    """

    def __init__(self, options: Normalization | None = None, cache_size: int = 100_000) -> None:
        self.options = options or Normalization()
        self._cache_size = cache_size
        self._entries = 0
        self._shared: OrderedDict[tuple[str, str | None], _Shared] = OrderedDict()

    def directory(self, base_url: str, encoding: str | None = None) -> Mapping[str, Target | BadUrl]:
        """Return the links of the page at *base_url*: `links[href]` gives the target, or why there is none.

        *base_url* is the page's address, or that of its `<base>`; *encoding* the page's charset by its Python
        name. Valid as long as the caller keeps it. Raises `BadUrl` if *base_url* is not http or https.
        """
        base = parsed(base_url)
        head = base.href.partition("#")[0].partition("?")[0]
        check_web(head)
        codec = query_codec(encoding)
        # A site's key has no slash at its end, a directory's has: they never meet.
        site = self._shared_by(head[: head.find("/", 8)], codec)
        directory = self._shared_by(head[: head.rfind("/") + 1], codec)
        self._forget()
        return _PageLinks(base, codec, directory, site, self)

    def keep(self, shared: _Shared, href: str, found: Target | BadUrl) -> None:
        """Remember *found* for further pages, unless *shared* was forgotten since."""
        if shared.is_kept:
            shared[href] = found
            self._entries += 1

    def _shared_by(self, place: str, codec: str | None) -> _Shared:
        key = (place, codec)
        shared = self._shared.get(key)
        if shared is None:
            shared = self._shared[key] = _Shared()
        else:
            self._shared.move_to_end(key)
        return shared

    def _forget(self) -> None:
        """Let go of the places that were not used for longest; last of the two in use."""
        while self._shared and self._entries + len(self._shared) > self._cache_size:
            _, shared = self._shared.popitem(last=False)
            shared.is_kept = False
            self._entries -= len(shared)
