"""Detects endless parts of a site by the content of their pages, as a function of the web alone.

A calendar is endless, and so are links with a new session id on every page; but their pages repeat the same
content. A `TrapWatch` counts, for URLs of one pattern, how many pages still have new content. It decides only
when a level of the site (clicks from the home page) is complete, from sets and sums that do not depend on the
order within the level, so that concurrency, retries and kills do not matter.
"""

from __future__ import annotations

from collections import deque
from itertools import chain
from typing import TYPE_CHECKING

import xxhash

from crawlers.algorithms.traps.url_shapes import broad_patterns, shape_reason, url_pattern
from crawlers.algorithms.urls.keys import signed, url_key

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["TrapWatch", "content_signature", "shape_reason", "url_pattern"]

MIN_PAGES = 150  # a year of days in a calendar has 84 texts (weekday, month): fewer pages are not conclusive
WINDOW_PAGES = 50  # the newest pages decide; of 50 pages with new content, 2 or fewer never look new
NEWS_SHARE = 0.05  # an honest listing has a far higher share, an endless part soon none
BROAD_FACTOR = 2  # a broad pattern needs more evidence, so that the narrow one at fault is cut first
SPARING_PAGES = 10  # this many pages of a narrow pattern, half of them new, exempt it from the verdict
SPARING_SHARE = 0.5  # on the broad one; a pattern with one text has new content once, too
SAMPLE_MAX = 2_048  # content signatures per pattern
SIGNATURES_MAX = 50_000  # content signatures per site, 3 to 5 MB
PATTERNS_MAX = 2_000  # per site; the same number of new ones per level

# Digits and the letters of hexadecimal numbers, because texts contain session ids, too; and whitespace, for layout.
_VOLATILE = b"0123456789abcdefABCDEF \t\n\r\f\v"


def content_signature(text: str) -> int:
    """Return a signed 64-bit hash of *text* without the parts that change between pages of a trap.

    Digits, the letters a to f (which removes hexadecimal ids) and ASCII whitespace are left out. Texts that differ
    only in those characters count as the same; ids of all letters count as different.

    >>> content_signature("May 2024, visit 9f86d0") == content_signature("May 1999,\\n visit 5ac02b")
    True

    Notes
    -----
    One pass in C takes about 1 ns per byte; searching for words with digits took fifteen times as long.
    """
    letters = text.encode("utf-8", "surrogatepass").translate(None, _VOLATILE)
    return signed(xxhash.xxh3_64_intdigest(letters))


class _Pattern:
    """The content of the pages of one pattern, level by level.

    Beyond `SAMPLE_MAX` signatures, only those whose last *depth* bits are 0 are kept: a sample that
    depends on the set of them, not on their order (Flajolet 1990, On adaptive sampling).
    """

    __slots__ = (
        "depth",
        "factor",
        "fresh",
        "fresh_pages",
        "known",
        "levels",
        "news",
        "pages",
        "text",
        "window",
    )

    def __init__(self, text: str, factor: int, depth: int) -> None:
        self.text = text
        self.factor = factor
        self.depth = depth
        self.pages = 0  # of complete levels, like all following counts except fresh ones
        self.known: set[int] = set()
        self.levels: deque[tuple[int, int]] = deque()  # (pages, new ones) of the newest levels
        self.window = 0  # sums over them
        self.news = 0
        self.fresh_pages = 0  # of the current level
        self.fresh: set[int] = set()

    def observe(self, print_: int) -> None:
        self.fresh_pages += 1
        if print_ & ((1 << self.depth) - 1) == 0 and print_ not in self.known:
            self.fresh.add(print_)
            while len(self.known) + len(self.fresh) > SAMPLE_MAX:
                self.thin(self.depth + 1)

    def thin(self, depth: int) -> None:
        self.depth = max(depth, self.depth)
        mask = (1 << self.depth) - 1
        self.known = {one for one in self.known if one & mask == 0}
        self.fresh = {one for one in self.fresh if one & mask == 0}

    def end_level(self) -> None:
        # The estimate may exceed the level's pages; if capped, those of small levels would sum up to too little.
        level = (self.fresh_pages, len(self.fresh) << self.depth)
        self.levels.append(level)
        self.pages += level[0]
        self.window += level[0]
        self.news += level[1]
        self.known |= self.fresh
        self.fresh, self.fresh_pages = set(), 0
        while self.window - self.levels[0][0] >= self._window_pages():
            pages, news = self.levels.popleft()
            self.window -= pages
            self.news -= news

    def is_endless(self) -> bool:
        enough = self.pages >= MIN_PAGES * self.factor and self.window >= self._window_pages()
        return enough and self.news < NEWS_SHARE * self.window

    def is_rich(self) -> bool:
        return self.pages >= SPARING_PAGES and self.news >= SPARING_SHARE * self.window

    def _window_pages(self) -> int:
        # A sample of one in 2^depth needs that many times more pages for the same confidence.
        return (WINDOW_PAGES * self.factor) << self.depth


class TrapWatch:
    """Watches one site for endless parts.

    The caller guarantees that all pages of a level are observed before a call with a higher one. Then verdicts do
    not depend on the order within levels, and observing the stored pages of an interrupted crawl, in order of levels,
    restores the watch. A pattern that is cut stays cut.

    Memory is bounded by *most_signatures* (`SAMPLE_MAX` per pattern during a level) and *most_patterns*: the patterns
    with the most pages are kept, and of the new ones of a level those with the smallest hashes. With fewer signatures
    more pages are needed for the same confidence.
    """

    def __init__(self, most_signatures: int = SIGNATURES_MAX, most_patterns: int = PATTERNS_MAX) -> None:
        self._most_signatures = most_signatures
        self._most_patterns = most_patterns
        self._level = 0
        self._depth = 0
        self._patterns: dict[int, _Pattern] = {}
        self._new: dict[int, _Pattern] = {}
        self._new_bound = 1 << 63  # keys at or above it are not among the smallest of this level
        self._touched: dict[int, _Pattern] = {}
        self._endless: dict[str, str] = {}

    def observe(self, url: str, level: int, content_signature: int) -> None:
        """Add the page at *url*, *level* clicks from the home page, with its *content_signature*."""
        self._reach(level)
        narrow = url_pattern(url)
        for text, factor in chain([(narrow, 1)], ((broad, BROAD_FACTOR) for broad in broad_patterns(narrow))):
            pattern = None if text in self._endless else self._pattern(text, factor)
            if pattern:
                pattern.observe(content_signature)

    def verdict(self, url: str, level: int) -> str | None:
        """Return why *url*, which is to be fetched at *level*, belongs to an endless part, or None."""
        self._reach(level)
        if not self._endless:
            return None
        narrow = url_pattern(url)
        reason = self._endless.get(narrow)
        if reason:
            return reason
        own = self._patterns.get(url_key(narrow))
        if own and own.is_rich():
            return None
        return next((self._endless[one] for one in broad_patterns(narrow) if one in self._endless), None)

    def _pattern(self, text: str, factor: int) -> _Pattern | None:
        key = url_key(text)
        pattern = self._patterns.get(key) or self._new.get(key)
        if pattern is None:
            if key >= self._new_bound:
                return None
            pattern = self._new[key] = _Pattern(text, factor, self._depth)
            if len(self._new) > 2 * self._most_patterns:
                self._keep_least_new()
                if key not in self._new:
                    return None
        self._touched[key] = pattern
        return pattern

    def _keep_least_new(self) -> None:
        keys, most = sorted(self._new), self._most_patterns
        for key in keys[most:]:
            del self._new[key]
            self._touched.pop(key, None)
        self._new_bound = min(self._new_bound, keys[most] if len(keys) > most else 1 << 63)

    def _reach(self, level: int) -> None:
        if level <= self._level:
            return
        self._level = level
        self._keep_least_new()
        self._patterns |= self._new
        self._new, self._new_bound = {}, 1 << 63
        for pattern in self._touched.values():
            pattern.end_level()
        self._decide(self._touched.values())
        self._touched = {}
        self._stay_small()

    def _decide(self, touched: Collection[_Pattern]) -> None:
        guilty = [one for one in touched if one.factor == 1 and one.is_endless()]
        # Pages of a narrow pattern do not count against its neighbours: broad patterns start again.
        cleared = {broad for one in guilty for broad in broad_patterns(one.text)}
        for text in cleared:
            self._patterns.pop(url_key(text), None)
        guilty += [one for one in touched if one.factor > 1 and one.text not in cleared and one.is_endless()]
        for one in guilty:
            self._endless[one.text] = f"trap: {one.pages} pages like {one.text[:200]} say the same"
            self._patterns.pop(url_key(one.text), None)

    def _stay_small(self) -> None:
        if len(self._patterns) > self._most_patterns:
            ranked = sorted(self._patterns.items(), key=lambda item: (-item[1].pages, item[0]))
            self._patterns = dict(ranked[: self._most_patterns])
        while sum(len(one.known) for one in self._patterns.values()) > self._most_signatures:
            self._depth += 1
            for pattern in self._patterns.values():
                pattern.thin(self._depth)
