"""Leaves downloads to the sites that respond: those that may hang get a part of them only.

A site is on trial until it has responded, and again after each download without a response. A hundred sites that accept
connections and never answer would otherwise occupy all downloads until they time out.
"""

from __future__ import annotations

from collections import Counter, deque


class Trials:
    """Admits pages of sites on trial: at most half of the *most* downloads, and no second one while others wait.

    Together with the robots.txt files in flight, which are limited to half as well, they are at most three quarters.
    """

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self._three_quarters = most * 3 // 4
        self._responding: set[int] = set()  # sites that responded last
        self._pages: set[int] = set()  # in flight, of sites on trial
        self._sites: Counter[int] = Counter()  # their numbers
        self._waiting: deque[int] = deque()  # sites

    def _room(self, robots: int) -> int:
        return max(1, min(self._half, self._three_quarters - robots)) - len(self._pages)

    def admits(self, site_id: int, robots: int) -> bool:
        """Return whether a page of the site may be requested while *robots* robots.txt are in flight."""
        if site_id in self._responding:
            return True
        return self._room(robots) > 0 and not (site_id in self._sites and self._waiting)

    def wait(self, site_id: int) -> None:
        """Let the site wait until there is room."""
        self._waiting.append(site_id)

    def admit_waiting(self, robots: int) -> list[int]:
        """Return the sites that need not wait any longer, the first first."""
        return [self._waiting.popleft() for _ in range(min(self._room(robots), len(self._waiting)))]

    def record_request(self, site_id: int, page_id: int) -> None:
        """Note the request for a page."""
        if site_id not in self._responding:
            self._pages.add(page_id)
            self._sites[site_id] += 1

    def forget_site(self, site_id: int) -> None:
        """Forget a site of which no page is in flight."""
        self._responding.discard(site_id)
        if site_id in self._waiting:
            self._waiting.remove(site_id)

    def record_result(self, site_id: int, page_id: int, *, responded: bool | None) -> None:
        """Note the end of the request for a page; *responded* is None if no request was sent to the site."""
        if responded:
            self._responding.add(site_id)
        elif responded is not None:
            self._responding.discard(site_id)
        if page_id in self._pages:
            self._pages.remove(page_id)
            self._sites[site_id] -= 1
            if not self._sites[site_id]:
                del self._sites[site_id]
