"""Reads the pages of real sites from their files, as a crawl would, into a cache for simulated crawls. No HTTP.

    python -m bench.harvest.site_pages FILES CACHE SITES.json...

FILES: a folder with the files of each site in a folder of its own. SITES.json: a list of sites, each with `site`, its
name; `start`, the path to which its home page redirects; and `quirks`, of which `charset=`, `redirhtml` (.htm redirects
to .html) and `soft404` (pages that do not exist answer 200) matter here. Pages are read by the program's own parser and
its rules for URLs, with the settings of `extlinks` but without a limit to levels.
"""

from __future__ import annotations

import json
import pickle
import re
import sys
import time
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
from scrapy.settings import Settings

from crawlers import settings as defaults
from crawlers.errors import BadUrl
from crawlers.inputs.setting_readers import normalization
from crawlers.items import Target
from crawlers.missions.extlinks.rewards import path, position
from crawlers.pages.html import LINK_TAGS, ParsedPage, parse_page
from crawlers.urls.link_resolver import LinkResolver
from crawlers.urls.url_filter import UrlFilter

INDEXES = ("index.html", "index.htm", "index.en.html", "index.ru.html", "index.ja.html")
PORT = 8600
READ, MOVED, REFUSED = range(3)
MAX_BYTES = 16 * 1024 * 1024
_MISSING = b"<html><title>Not found</title><body>Sorry, no such page. <a href=/>home</a></body></html>"
_IS_PAGE = re.compile(r"\.(html|htm|shtml|xhtml)$", re.I)


@dataclass
class SitePages:
    """Every URL of a site that can be reached, by number, the home page first; with its links in their order."""

    site: str
    urls: list[str] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    costs: list[int] = field(default_factory=list)  # requests for one page; redirects to itself with a cookie or slash
    moved_to: list[int] = field(default_factory=list)  # -1: nowhere
    external: list[list[int]] = field(default_factory=list)  # keys of external URLs, each once
    first_link: array[int] = field(default_factory=lambda: array("q", [0]))  # of each page, and the end
    targets: array[int] = field(default_factory=lambda: array("i"))
    positions: array[int] = field(default_factory=lambda: array("i"))  # numbers of texts, likewise the next two
    paths: array[int] = field(default_factory=lambda: array("i"))
    anchors: array[int] = field(default_factory=lambda: array("i"))
    texts: list[str] = field(default_factory=list)

    def links(self, page: int) -> range:
        """The numbers of the links of *page*; the first to each target, without those to the page itself."""
        return range(self.first_link[page], self.first_link[page + 1])


class _Files:
    """Answers requests for one site as its server would."""

    def __init__(self, root: Path, address: str, start: str, quirks: list[str]) -> None:
        self._root = root
        self._address = address
        self._start = start
        self._quirks = quirks
        charsets = [quirk.partition("=")[2] for quirk in quirks if quirk.startswith("charset=")]
        self.content_type = "text/html" + "".join(f"; charset={charset}" for charset in charsets)

    def get(self, url: str) -> tuple[bytes | None, str | None]:
        """Return the body of a page, or the URL that it redirects to; neither if it is no page."""
        path = urlsplit(url).path
        if path == "/" and self._start != "/":
            return None, self._address + self._start
        if "redirhtml" in self._quirks and path.endswith(".htm"):
            return None, f"{self._address}{path}l"
        missing = _MISSING if "soft404" in self._quirks else None
        name = unquote(path).lstrip("/")
        if "\0" in name or len(name.encode()) > 1000:
            return missing, None
        file = self._root / name
        try:
            if file.is_dir():
                if not path.endswith("/"):
                    return None, f"{self._address}{path}/"
                file = next((file / index for index in INDEXES if (file / index).is_file()), file)
                if file.is_dir():
                    return None, None
            elif path.endswith("/") or not file.is_file():
                return missing, None
        except OSError:
            return missing, None
        if not _IS_PAGE.search(file.name) or file.stat().st_size > MAX_BYTES:
            return None, None
        return file.read_bytes(), None


class _Reader:
    """Reads one site, breadth first, so that its pages are numbered in that order."""

    def __init__(self, name: str, files: _Files, resolver: LinkResolver, url_filter: UrlFilter) -> None:
        self.pages = SitePages(name)
        self._files = files
        self._resolver = resolver
        self._filter = url_filter
        self._numbers: dict[int, int] = {}  # of pages, by key; -1: not requested
        self._keys: list[int] = []
        self._texts: dict[str, int] = {}

    def read(self, home: Target) -> SitePages:
        self._number(home)
        number = 0
        while number < len(self.pages.urls):
            self._read(number, home.site)
            number += 1
        self.pages.texts = list(self._texts)
        return self.pages

    def _number(self, target: Target) -> int:
        known = self._numbers.get(target.key)
        if known is None:
            known = -1 if self._filter.reason_against(target) is not None else len(self.pages.urls)
            self._numbers[target.key] = known
            if known >= 0:
                self.pages.urls.append(target.url)
                self._keys.append(target.key)
        return known

    def _read(self, number: int, site: str) -> None:
        pages, cost, moved_to = self.pages, 1, -1
        url = pages.urls[number]
        while True:
            body, location = self._files.get(url)
            target = self._resolver.directory(url)[location] if location else None
            if not isinstance(target, Target) or target.key != self._keys[number] or target.url == url or cost > 4:
                break
            url, cost = target.url, cost + 1
        if isinstance(target, Target) and target.site == site:
            moved_to = self._number(target)
        external: list[int] = []
        if body is not None:
            parsed = parse_page(body, self._files.content_type, frozenset(LINK_TAGS))
            external = self._links(number, url, site, parsed)
        pages.kinds.append(READ if body is not None else MOVED if moved_to >= 0 else REFUSED)
        pages.costs.append(cost)
        pages.moved_to.append(moved_to)
        pages.external.append(external)
        pages.first_link.append(len(pages.targets))

    def _links(self, number: int, url: str, site: str, parsed: ParsedPage) -> list[int]:
        targets = self._resolver.directory(url, parsed.charset)
        if parsed.base is not None and isinstance(base := self._resolver.directory(url)[parsed.base], Target):
            targets = self._resolver.directory(base.url, parsed.charset)
        external: dict[int, None] = {}
        seen = {self._keys[number]}
        places: dict[int, tuple[int, int]] = {}
        for index, href in enumerate(parsed.hrefs):
            target = targets[href]
            if isinstance(target, BadUrl):
                continue
            if target.site != site:
                external[target.key] = None
            elif target.key not in seen:
                seen.add(target.key)
                found = self._number(target)
                if found >= 0:
                    self._link(found, index, parsed, places)
        return list(external)

    def _link(self, target: int, index: int, parsed: ParsedPage, places: dict[int, tuple[int, int]]) -> None:
        parent = parsed.node(index).parent
        mem_id = parent.mem_id if parent is not None else 0
        if mem_id not in places:
            places[mem_id] = self._text(position(parent) if parent else ""), self._text(path(parent) if parent else "")
        self.pages.targets.append(target)
        self.pages.positions.append(places[mem_id][0])
        self.pages.paths.append(places[mem_id][1])
        self.pages.anchors.append(self._text(parsed.anchor(index)))

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))


def read_site(files: Path, described: dict[str, Any]) -> SitePages:
    """Return the pages of the site that a list of sites has *described*."""
    settings = Settings()
    settings.setmodule(defaults)
    name = described["site"]
    address = f"http://{name}.test:{PORT}"
    resolver = LinkResolver(normalization(settings))
    home = resolver.directory(f"{address}/")["/"]
    assert isinstance(home, Target)
    server = _Files(files / name, address, described.get("start", "/"), described.get("quirks", []))
    url_filter = UrlFilter(settings.getlist("IGNORED_EXTENSIONS"))
    return _Reader(name, server, resolver, url_filter).read(home)


def cached(cache: Path, name: str) -> SitePages:
    """Return the pages of a site that was read into *cache*."""
    with (cache / f"{name}.pickle").open("rb") as file:
        return SitePages(**pickle.load(file))  # noqa: S301 - made by this module


def store(cache: Path, name: str, pages: SitePages) -> None:
    """Write *pages* for `cached`."""
    with (cache / f"{name}.pickle").open("wb") as file:
        pickle.dump(vars(pages), file, pickle.HIGHEST_PROTOCOL)


def main() -> None:
    files, cache = Path(sys.argv[1]), Path(sys.argv[2])
    cache.mkdir(parents=True, exist_ok=True)
    for described in (site for name in sys.argv[3:] for site in json.loads(Path(name).read_text())):
        if (cache / f"{described['site']}.pickle").exists():
            continue
        began = time.monotonic()
        pages = read_site(files, described)
        store(cache, pages.site, pages)
        kinds = np.bincount(pages.kinds, minlength=3).tolist()
        found = len({key for keys in pages.external for key in keys})
        print(
            f"{pages.site}: {len(pages.urls)} URLs, {kinds[READ]} pages, {len(pages.targets)} links, "
            f"{found} external URLs, {time.monotonic() - began:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
