"""Representatives of pages that are aliases: other URLs of the same page."""

from __future__ import annotations


class Aliases:
    """Chains of pages, each an alias of the next; a page moves once, and chains never form a cycle.

    Paths are compressed as they are followed, so a look-up is O(1) amortised. A dict, not `PageValues`, because only a
    few pages in a hundred have moved.
    """

    __slots__ = ("_next",)

    def __init__(self) -> None:
        self._next: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self._next)

    def add(self, page: int, target: int) -> None:
        """Make *page* an alias of *target*; ignored if it is an alias already, or would become one of itself."""
        if page not in self._next and self.representative(target) != page:
            self._next[page] = target

    def get(self, page: int) -> int:
        """Return the page of which *page* is an alias, or a later one of that chain; 0 if there is none."""
        return self._next.get(page, 0)

    def representative(self, page: int) -> int:
        """Return the last page of the chain that begins with *page*: *page* itself if it is not an alias."""
        last = page
        while last in self._next:
            last = self._next[last]
        while page != last:
            self._next[page], page = last, self._next[page]
        return last
