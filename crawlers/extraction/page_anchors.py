"""The texts of a page's links, computed only for those that are needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from crawlers.items import Target

if TYPE_CHECKING:
    from crawlers.errors import BadUrl
    from crawlers.extraction.html import ParsedPage


class PageAnchors(Mapping[int, str]):
    """The text of the first link to each target, by key. *targets* are by raw href.

    A text is computed when it is looked up: of some 70 links of a page, most lead to pages that were read already.
    """

    def __init__(self, parsed: ParsedPage, targets: Mapping[str, Target | BadUrl]) -> None:
        self._parsed = parsed
        self._targets = targets
        self._first: dict[int, int] | None = None  # index of the first link, by key

    def __getitem__(self, key: int) -> str:
        return self._parsed.link(self._links()[key]).anchor

    def __iter__(self) -> Iterator[int]:
        return iter(self._links())

    def __len__(self) -> int:
        return len(self._links())

    def _links(self) -> dict[int, int]:
        if self._first is None:
            self._first = {}
            for href, index in self._parsed.first().items():
                target = self._targets[href]
                if isinstance(target, Target):
                    self._first[target.key] = min(index, self._first.get(target.key, index))
        return self._first
