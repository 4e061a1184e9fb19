"""Recognises by its URL that a page is another form of a page: for printers, for AMP, or with a parameter too many."""

from __future__ import annotations

import re
from collections import Counter
from urllib.parse import parse_qsl, urlsplit

MIN_COPIES = 3  # from which a parameter makes no difference on its site

_FORMS = re.compile(
    r"(?<=[?&])(?:amp|print(?:able)?)(?:=(?:1|true|yes|y)?)?(?:&|\Z)|(?<=[^/]/)(?:amp|print)(?:/|\Z|(?=\?))", re.I
)
_IDLE = re.compile(r"[?&]+\Z")  # what is left of a query


class UrlVariants:
    """Which parameters make no difference on each site, as far as this process has seen copies of its articles."""

    def __init__(self) -> None:
        self._copies: Counter[tuple[str, str]] = Counter()  # by host and parameter: pairs that differ in nothing else
        self._others: Counter[tuple[str, str]] = Counter()  # articles of their own that have it

    def learn(self, url: str, original: str) -> None:
        """Count that the article at *url* is a copy of that at *original*; "": it is none.

        Copies are not counted unless their URLs differ in one parameter only.
        """
        here, there = urlsplit(url), urlsplit(original)
        ours, theirs = dict(parse_qsl(here.query, True)), dict(parse_qsl(there.query, True))
        if not original:
            self._others.update((here.netloc, name) for name in ours)
        elif here[:3] == there[:3]:
            different = [name for name in ours | theirs if ours.get(name) != theirs.get(name)]
            self._copies.update((here.netloc, name) for name in different[: len(different) == 1])

    def original(self, url: str) -> str:
        """Return the URL of the page of which *url* is another form, or *url* itself.

        >>> UrlVariants().original("https://a.example/news/17/print/?print=1")
        'https://a.example/news/17/'
        """
        url = _FORMS.sub("", url)
        path, _, query = url.partition("?")
        host = urlsplit(url).netloc
        kept = [part for part in query.split("&") if not self._is_idle(host, part.partition("=")[0])]
        return _IDLE.sub("", f"{path}?{'&'.join(kept)}")

    def _is_idle(self, host: str, name: str) -> bool:
        copies = self._copies[host, name]
        return copies >= MIN_COPIES and copies > self._others[host, name]
