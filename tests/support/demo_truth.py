"""The true graph of a demo site, computed from its pure responses with the parsers of the standard library.

No code of the crawler is used: html.parser reads the pages and urllib.parse the links, without a network. The
sites that are endless (archive) or misbehave (babel, grumpy) have no such truth.

Rules of the graph: A page is a response with status 200; its URL is the last one of a chain of redirects. Its
level is the minimum number of clicks from the start URL; a redirect is not a click. A redirect that loops,
leaves the site or ends at another status gives no page. Links are those of *tags*; base is applied and fragments
are ignored. All pages are visited, including copies, because relative links of a copy may have other targets than
those of the original. Pages of equal bytes form a group, represented by the first one by (level, URL); edges connect
different groups.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from hashlib import sha256
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin, urlsplit

from examples.webs import Web, respond

if TYPE_CHECKING:
    from collections.abc import Mapping

ALL_TAGS = ("a", "area", "frame", "iframe", "meta")


@dataclass(frozen=True, slots=True)
class Truth:
    """The expected result of a complete crawl of a site; all URLs are normalised."""

    pages: Mapping[str, int]  # URL -> level, copies included
    groups: tuple[tuple[str, ...], ...]  # each sorted by (level, URL); most have one member
    edges: Mapping[tuple[str, str], int]  # (first of a group, first of another) -> number of links
    moved: Mapping[str, str]  # redirecting URL -> the page it ends at
    refused: Mapping[str, int]  # URL -> status; neither 200 nor a redirect that can be followed
    loops: frozenset[str]  # URLs whose redirects never end
    off_site: Mapping[str, str]  # redirecting URL -> its target on another site
    external: frozenset[str]  # targets of links that leave the site, as resolved, without fragment

    @property
    def nodes(self):
        """Return the nodes of the graph with their levels."""
        return {group[0]: self.pages[group[0]] for group in self.groups}

    @property
    def copies(self):
        """Return each merged page with its representative."""
        return {url: group[0] for group in self.groups for url in group[1:]}


class _Links(HTMLParser):
    def __init__(self, tags):
        super().__init__()
        self.base = None
        self.found = []
        self._tags = tags

    def handle_starttag(self, tag, attrs):
        values = {name: value or "" for name, value in reversed(attrs)}
        if tag == "base" and self.base is None and "href" in values:
            self.base = values["href"]
        if tag not in self._tags:
            return
        target = values.get("src" if tag in ("frame", "iframe") else "href")
        if tag == "meta":
            refresh = values.get("http-equiv", "").lower() == "refresh" and values.get("content", "")
            url = re.match(r"\s*[\d.]+\s*[;,]?\s*url\s*=\s*(['\"]?)(.*?)\1\s*$", refresh or "", re.IGNORECASE)
            target = url[2] if url else None
        if target is not None:
            self.found.append(target.strip())


def _links(url, body, tags):
    parser = _Links(tags)
    parser.feed(body.decode())
    parser.close()
    base = urljoin(url, parser.base or "")
    for href in parser.found:
        yield urldefrag(urljoin(base, href)).url


@dataclass(frozen=True, slots=True)
class _End:
    """The result of requesting a URL and following its redirects."""

    url: str
    kind: str  # page, refused, loop or off-site
    status: int
    body: bytes
    hops: tuple[str, ...]  # the redirecting URLs on the way


def _request(site, url, web):
    home = urlsplit(web.origins[site])
    hops = []
    while True:
        parts = urlsplit(url)
        if (parts.scheme, parts.netloc) != (home.scheme, home.netloc):
            return _End(url, "off-site", 0, b"", tuple(hops))
        response = respond(site, parts.path or "/", parts.query, web)
        location = response.header("Location")
        if response.status not in (301, 302, 303, 307, 308) or not location:
            kind = "page" if response.status == 200 else "refused"
            return _End(url, kind, response.status, response.body, tuple(hops))
        hops.append(url)
        url = urldefrag(urljoin(url, location)).url
        if url in hops:
            return _End(url, "loop", response.status, b"", tuple(hops))


def truth(site, origins=None, scale=1, *, normalize=lambda url: url, tags=ALL_TAGS):
    """Return the true graph of *site*, one of library, faculty and mirror, served at *origins*.

    *normalize* is that of the crawler: URLs that it makes equal count as one, and must lead to one page.
    """
    web = Web(scale, origins) if origins else Web(scale)
    home = web.origins[site] + "/"
    ends = {}  # key -> kind, key of the end, its bytes, keys linked to
    seen_as = defaultdict(set)
    levels = {}
    outs = {}  # page -> keys linked to, with their number
    hashes = {}
    moved, refused, off_site, loops, external = {}, {}, {}, set(), set()

    def settle(url, level):
        """Request a URL variant that was not requested before; return its page if its links are to be followed."""
        key = normalize(url)
        if url in seen_as[key]:
            return None
        seen_as[key].add(url)
        end = _request(site, url, web)
        last = end.url if end.kind == "off-site" else normalize(end.url)
        targets = list(_links(end.url, end.body, tags)) if end.kind == "page" else []
        own = [target for target in targets if target.startswith(home)]
        # The URL that closes a loop depends on where the loop was entered.
        last = "" if end.kind == "loop" else last
        outcome = (end.kind, last, end.body, [normalize(target) for target in own])
        assert ends.setdefault(key, outcome) == outcome, f"variants lead to different pages: {sorted(seen_as[key])}"
        for hop in map(normalize, end.hops):
            if end.kind == "loop":
                loops.add(hop)
            elif end.kind == "off-site":
                off_site[hop] = last
            elif end.kind == "page" and hop != last:
                moved[hop] = last
        if end.kind == "refused":
            refused[last] = end.status
        if end.kind != "page" or last in levels:
            return None
        levels[last] = level
        hashes[last] = sha256(end.body).digest()
        outs[last] = Counter(own)
        external.update(t for t in targets if t.startswith(("http://", "https://")) and t not in outs[last])
        return last

    layer, level = [settle(home, 0)], 0
    while layer:
        level += 1
        found = [settle(target, level) for page in layer if page for target in outs[page]]
        layer = [page for page in found if page]

    members = defaultdict(list)
    for url in sorted(levels, key=lambda url: (levels[url], url)):
        members[hashes[url]].append(url)
    first = {url: group[0] for group in members.values() for url in group}
    edges = Counter()
    for page, targets in outs.items():
        for target, number in targets.items():
            last = first.get(str(ends[normalize(target)][1]))
            if last is not None and last != first[page]:
                edges[first[page], last] += number
    return Truth(
        pages=levels,
        groups=tuple(tuple(group) for group in members.values()),
        edges=dict(edges),
        moved=moved,
        refused=refused,
        loops=frozenset(loops),
        off_site=off_site,
        external=frozenset(external),
    )
