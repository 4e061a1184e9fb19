"""Detects endless parts of a site by the content of their pages.

A calendar is endless, and so are links with a new session id on every page, but their pages say nothing that their
URLs and links do not say. A `TrapWatch` counts, for the URLs of each pattern, how many pages still have new content. It
decides only when a level of the site (clicks from the start URL) is complete, from sets and sums that do not depend on
the order within the level. So the result is a function of the site, whatever the concurrency, retries and kills.

A long finite series of pages without content of their own looks the same, until it ends. So a pattern that repeats
itself is only a suspect at first, whose pages are read on; the part of the site to which it belongs is cut when it has
repeated itself `MIN_REPEATS` times.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

import xxhash

from crawlers.reasons import Reason
from crawlers.urls.keys import signed, url_key
from crawlers.urls.url_shapes import (
    broad_patterns,
    loop_of,
    part_of,
    path_segments,
    reason_of_loop,
    url_pattern,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Sequence

    from crawlers.items import Target

# So many pages of a part say nothing new before it is cut: a finite part is never cut, unless it is longer. Numbered
# pages that are linked one to the next come in thousands (6,000 were met); ten thousand requests too many do less harm
# than a graph that lacks a part of its site.
MIN_REPEATS = 10_000
MIN_PAGES = 150  # fewer are no reason for suspicion: the days of a year in a calendar have 84 texts (weekday, month)
WINDOW_PAGES = 50  # the latest pages decide; a part with new content has more than 2 new pages among 50
MIN_NEW_SHARE = 0.05  # a genuine listing has a far higher share of new pages, an endless part soon has none
BROAD_FACTOR = 2  # a broad pattern needs more evidence, so that the narrow one that causes it is cut first
# A loop of relative links needs less: a hundred pages whose paths repeat a segment, and whose texts are the same.
LOOP_FACTOR = 0.01
EXEMPT_PAGES = 10  # a narrow pattern is exempt from the verdict on a broad one if it has this many pages,
EXEMPT_SHARE = 0.5  # and this share of them is new (a pattern with a single text has one new page)
MAX_SAMPLE = 2_048  # content signatures per pattern
MAX_SIGNATURES = 50_000  # content signatures per site, 3 to 5 MB
MAX_PATTERNS = 2_000  # per site, and new ones per level

# Digits are judged one number at a time. Hexadecimal letters are ignored, because texts show session ids; so is
# whitespace, for differences in layout.
_VOLATILE = b"0123456789abcdefABCDEF \t\n\r\f\v"
_NUMBERS = bytes(byte if byte in b"0123456789" else 0x20 for byte in range(256))  # everything else becomes a space
_WORDS = bytes(byte if byte > 0x7F or chr(byte).isalnum() else 0x20 for byte in bytes(range(256)).lower())
ANY_PATH = "*"  # how broad patterns begin that have any path
_LOOPS = _SAME, _LIKE = "=+"  # how patterns of loops begin: of pages with the same text, and of those that say the same
_SAID = 0xFFFFFFFF  # the bits of a content signature for what a page says; the others are for the text of one in a loop


def content_signature(text: str, urls: Sequence[str] = ()) -> int:
    """Return a signed 64-bit hash of what *text* says beyond the *urls* of its page, the first, and of the links on it.

    Numbers count unless one of the *urls* has them, with or without leading zeros: a page of a calendar is one of
    endlessly many, a table of measurements is not. The letters a to f (in order to remove hexadecimal ids) and ASCII
    whitespace are ignored. If a segment recurs in the path of the page, words count like numbers, because such pages
    show their paths; one half of the hash is that of the whole text then.

    >>> content_signature("5 May 2024: 9f86", ["/cal?d=2024-05&s=9f86"]) == content_signature("May:")
    True
    >>> content_signature("May: 12.5 mm", ["/rain?month=5"]) == content_signature("May: 9.5 mm", ["/rain?month=5"])
    False

    Notes
    -----
    Passes in C take about 2 ns per byte; a search for words with digits took ten times as long.
    """
    data = text.encode("utf-8", "surrogatepass")
    is_loop = bool(urls and loop_of(urls[0]))
    said = _parts(data, _WORDS if is_loop else _NUMBERS)
    if said:
        known = set(_parts("\n".join(urls).encode("utf-8", "surrogatepass"), _WORDS if is_loop else _NUMBERS))
        said = [part for part in said if part not in known]
    if not is_loop:
        return signed(xxhash.xxh3_64_intdigest(data.translate(None, _VOLATILE) + b" ".join(said)))
    whole = xxhash.xxh32_intdigest(data) if data.strip() else 0  # pages of frames and pictures may differ without text
    return signed(whole << 32 | xxhash.xxh32_intdigest(b" ".join(said)))


def _parts(data: bytes, kind: bytes) -> list[bytes]:
    return [part.lstrip(b"0") for part in data.translate(kind).split()]


@dataclass(slots=True)
class _Pattern:
    """The content of the pages of one pattern, level by level.

    With more than `MAX_SAMPLE` signatures, only those whose last *depth* bits are 0 are kept: a sample that depends on
    the set of signatures, not on their order (Flajolet 1990, On adaptive sampling).
    """

    pattern: str
    evidence_factor: float
    depth: int
    is_suspect: bool = False  # since the latest complete level with pages
    pages: int = 0  # of complete levels
    repeats: int = 0  # pages of complete levels whose content was not new
    known: set[int] = field(default_factory=set)  # signatures of complete levels
    levels: deque[tuple[int, int]] = field(default_factory=deque)  # (pages, new pages) of the latest complete levels
    window: int = 0  # pages of these levels
    new: int = 0  # new pages of these levels
    level_pages: int = 0  # of the current level
    level_new: set[int] = field(default_factory=set)  # new signatures of the current level

    def observe(self, signature: int) -> None:
        self.level_pages += 1
        if signature & ((1 << self.depth) - 1) == 0 and signature not in self.known:
            self.level_new.add(signature)
            while len(self.known) + len(self.level_new) > MAX_SAMPLE:
                self.thin(self.depth + 1)

    def thin(self, depth: int) -> None:
        self.depth = max(depth, self.depth)
        mask = (1 << self.depth) - 1
        self.known = {signature for signature in self.known if signature & mask == 0}
        self.level_new = {signature for signature in self.level_new if signature & mask == 0}

    def end_level(self) -> None:
        # The estimate may exceed the pages of the level; with a cap, the sum over small levels would be too low.
        level = (self.level_pages, len(self.level_new) << self.depth)
        self.levels.append(level)
        self.pages += level[0]
        self.repeats += level[0] - level[1]
        self.window += level[0]
        self.new += level[1]
        self.known |= self.level_new
        self.level_new, self.level_pages = set(), 0
        while self.window - self.levels[0][0] >= self._window_pages():
            pages, new = self.levels.popleft()
            self.window -= pages
            self.new -= new
        enough = self.pages >= MIN_PAGES * self.evidence_factor and self.window >= self._window_pages()
        self.is_suspect = enough and self.new < MIN_NEW_SHARE * self.window

    def evidence(self) -> int:
        return round(self.repeats / min(1, self.evidence_factor))

    def is_exempt(self) -> bool:
        return self.pages >= EXEMPT_PAGES and self.new >= EXEMPT_SHARE * self.window

    def _window_pages(self) -> float:
        # A sample of one in 2^depth needs 2^depth times as many pages for the same confidence.
        return WINDOW_PAGES * self.evidence_factor * (1 << self.depth)


def _loop_pattern(kind: str, folder: Iterable[str], end: str) -> str:
    """Return the pattern of the paths in *folder* that repeat a segment, and end with *end*."""
    return kind + "/".join([*folder, "**", end])


def _loop_among(url: str, patterns: Container[str], kinds: str = _LOOPS) -> str | None:
    """Return the pattern of the loop of relative links to which *url* belongs that is one of *patterns*, or None.

    Where no segment recurs yet, the last two must belong to the loop.
    """
    folders, ends = path_segments(url), path_segments(f"//{url_pattern(url)}")
    ends = ends[-1:] if loop_of(url) else ends[-2:]
    for kind, length in product(kinds, range(len(folders) - 1)):
        loop = [_loop_pattern(kind, folders[:length], end) for end in ends]
        if all(one in patterns for one in loop):
            return loop[-1]
    return None


class TrapWatch:
    """Watches one site for endless parts.

    The caller guarantees that all pages of a level are observed before any call with a higher level. Then verdicts do
    not depend on the order within levels, and a crawl that is resumed restores the watch by observing its stored pages
    in the order of their levels. A verdict is final.

    Memory is bounded by *most_signatures* (and `MAX_SAMPLE` per pattern during a level) and by *most_patterns*: the
    patterns with the most pages are kept, and of the new ones of a level those with the smallest hashes. The fewer
    signatures, the more pages are needed for the same confidence.
    """

    def __init__(self, most_signatures: int = MAX_SIGNATURES, most_patterns: int = MAX_PATTERNS) -> None:
        self._most_signatures = most_signatures
        self._most_patterns = most_patterns
        self._level = 0
        self._depth = 0
        self._patterns: dict[int, _Pattern] = {}
        self._new: dict[int, _Pattern] = {}  # patterns found on the current level
        self._new_bound = 1 << 63  # keys from here on are not among the smallest of this level
        self._touched: dict[int, _Pattern] = {}  # patterns with pages on the current level
        self._suspects: set[str] = set()  # patterns
        self._doubted: set[str] = set()  # patterns that were suspects once
        self._endless: dict[str, str] = {}  # reasons by pattern
        self._repeats: Counter[str] = Counter()  # pages of endless patterns without new content, by part of the site

    def observe(self, url: str, level: int, content_signature: int) -> None:
        """Add the page at *url*, *level* clicks from the start URL, with the `content_signature` of its text."""
        self._advance(level)
        narrow, said, whole = url_pattern(url), content_signature & _SAID, content_signature >> 32
        broad = broad_patterns(narrow)
        if narrow in self._suspects:
            # Its pages do not count against its neighbours, the other patterns within its broad ones.
            broad = tuple(one for one in broad if one in self._suspects and one[0] == ANY_PATH)
        seen: list[tuple[str, float, int]] = [(narrow, 1, said), *((one, BROAD_FACTOR, said) for one in broad)]
        if loop := loop_of(url):
            folder, end = path_segments(url)[: -len(loop)], path_segments(f"//{narrow}")[-1]
            seen.append((_loop_pattern(_LIKE, folder, end), BROAD_FACTOR, said))
            if whole and not any(map(str.isdigit, "".join(loop))):  # numbered folders may say as little as their pages
                seen.append((_loop_pattern(_SAME, folder, end), LOOP_FACTOR, whole))
        for text, factor, signature in seen:
            pattern = None if text in self._endless else self._pattern(text, factor)
            if pattern:
                pattern.observe(signature)

    def verdict(self, url: str, level: int) -> str | None:
        """Return the reason why *url*, about to be fetched at *level*, belongs to an endless part, or None."""
        self._advance(level)
        if not self._endless and not self._suspects:  # as on most sites
            return None
        pattern = self._among(url, self._endless)
        if pattern is not None:
            return self._endless[pattern]
        reason = reason_of_loop(url)
        return reason if reason and _loop_among(url, self._suspects, _SAME) else None

    def is_suspect(self, url: str) -> bool:
        """Return whether *url* belongs to a part that repeats itself, as of the latest complete level."""
        return self._among(url, self._suspects) is not None

    def leads_outside(self, url: str, others: Iterable[Target]) -> list[Target]:
        """Return the *others* that are in no suspect part, if the page at *url* is in a part that was suspect once.

        If they are new, its page is no repetition, whatever its text; the caller gives it another content signature.
        """
        if self._among(url, self._doubted) is None:
            return []
        own = url_pattern(url)
        return [other for other in others if url_pattern(other.url) != own and not self.is_suspect(other.url)]

    def _among(self, url: str, patterns: Container[str]) -> str | None:
        """Return the pattern of *url* that is one of *patterns*, or None; it is exempt if its own content is new."""
        if not patterns:
            return None
        narrow = url_pattern(url)
        if narrow in patterns:
            return narrow
        own = self._patterns.get(url_key(narrow))
        if own and own.is_exempt():
            return None
        return next((one for one in broad_patterns(narrow) if one in patterns), None) or _loop_among(url, patterns)

    def _pattern(self, text: str, factor: float) -> _Pattern | None:
        key = url_key(text)
        pattern = self._patterns.get(key) or self._new.get(key)
        if pattern is None:
            if key >= self._new_bound:
                return None
            pattern = self._new[key] = _Pattern(text, factor, self._depth)
            if len(self._new) > 2 * self._most_patterns:
                self._keep_smallest_new()
                if key not in self._new:
                    return None
        self._touched[key] = pattern
        return pattern

    def _keep_smallest_new(self) -> None:
        keys, most = sorted(self._new), self._most_patterns
        for key in keys[most:]:
            del self._new[key]
            self._touched.pop(key, None)
        self._new_bound = min(self._new_bound, keys[most] if len(keys) > most else 1 << 63)

    def _advance(self, level: int) -> None:
        if level <= self._level:
            return
        self._level = level
        self._keep_smallest_new()
        self._patterns |= self._new
        self._new, self._new_bound = {}, 1 << 63
        for pattern in self._touched.values():
            pattern.end_level()
        self._decide(self._touched.values())
        self._touched = {}
        self._limit_memory()

    def _decide(self, touched: Collection[_Pattern]) -> None:
        for pattern in touched:
            if pattern.evidence_factor == 1 and pattern.is_suspect:
                for broad in broad_patterns(pattern.pattern):  # they counted the pages of the suspect
                    counted = self._patterns.get(url_key(broad))
                    if counted and broad not in self._suspects:
                        del self._patterns[url_key(broad)]
                    elif counted and broad[0] != ANY_PATH and pattern.pattern not in self._doubted:
                        counted.repeats = max(0, counted.repeats - pattern.repeats)
        suspects = [pattern for pattern in self._patterns.values() if pattern.is_suspect]
        repeats = self._repeats.copy()
        for pattern in suspects:
            repeats[part_of(pattern.pattern)] += pattern.evidence()
        for pattern in suspects:
            part = part_of(pattern.pattern)
            if repeats[part] >= MIN_REPEATS:
                self._repeats[part] += pattern.evidence()
                like = f"/{pattern.pattern[1:]}" if pattern.pattern[0] in _LOOPS else pattern.pattern
                reason = Reason.TRAP_CONTENT.of(pattern.pages, like[:200])
                self._endless[pattern.pattern] = reason
                del self._patterns[url_key(pattern.pattern)]
        self._suspects = {*self._endless, *(pattern.pattern for pattern in suspects)}
        self._doubted |= self._suspects

    def _limit_memory(self) -> None:
        if len(self._patterns) > self._most_patterns:
            ranked = sorted(self._patterns.items(), key=lambda item: (-item[1].pages, item[0]))
            self._patterns = dict(ranked[: self._most_patterns])
        while sum(len(pattern.known) for pattern in self._patterns.values()) > self._most_signatures:
            self._depth += 1
            for pattern in self._patterns.values():
                pattern.thin(self._depth)
