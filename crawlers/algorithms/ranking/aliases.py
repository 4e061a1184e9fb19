"""Which page stands for which, where pages are other addresses of other pages."""

from __future__ import annotations


class Aliases:
    """Chains of pages, each of which is but another address of the next; a page moves once, and never in a circle.

    Paths are compressed as they are followed, so a look-up is O(1) amortised. Some pages in a hundred have moved,
    which is why this is a dict and no `PageValues`.
    """

    __slots__ = ("_next",)

    def __init__(self) -> None:
        self._next: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self._next)

    def add(self, page: int, target: int) -> None:
        """*page* is another address of *target*; ignored when it has moved before, or would stand for itself."""
        if page not in self._next and self.representative(target) != page:
            self._next[page] = target

    def get(self, page: int) -> int:
        """The page that *page* moved to, or a later one of that chain; 0 when it did not move."""
        return self._next.get(page, 0)

    def representative(self, page: int) -> int:
        """The last page of the chain that begins with *page*: itself when it did not move."""
        last = page
        while last in self._next:
            last = self._next[last]
        while page != last:
            self._next[page], page = last, self._next[page]
        return last
