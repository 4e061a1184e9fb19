"""Groups of similar links at similar positions as bandit arms, to choose which link of a site is followed next.

Sites are repetitive: the links of one list, menu or index lead to pages of one kind. So the rewards of the first pages
of a group predict those of the others, long before a breadth-first crawl reaches them.
"""

from __future__ import annotations

import re
from math import log, log1p, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_GROUPS = 100  # per site; later groups share one with the home page. With more groups, learning takes longer
BONUS = 0.3  # weight of the confidence term, in standard deviations of a page's log1p(reward)
PRIOR_PULLS = 1.0  # with the mean of the site, as the prior of every group
_DIGITS = re.compile(r"\d+")
NAME_CHARS = 300  # of the name of a group, at most


def group_name(position: str, url: str) -> str:
    """Return the name of the group of a link to the absolute *url* at *position* on its page, a path of tags.

    Numbers are replaced by 0; the query, and the path after its last slash, are ignored.

    >>> group_name("ul/li.toc2", "http://a.test/news/2024/05/title.html?x=/1/")
    'ul/li.toc0 http://a.test/news/0/0/'
    """
    path = url.partition("?")[0]
    return _DIGITS.sub("0", f"{position} {path[: path.rfind('/') + 1]}"[:NAME_CHARS])


class GroupBandit:
    """A sleeping bandit over the groups of one site, by upper confidence bounds of log1p of the rewards.

    The index of a group with *n* pulls and a total reward *S* is
    (S + k·m) / (n + k) + c·sqrt(v·ln(N + 1) / (n + k)), with mean *m*, variance *v* and number *N* of all pulls of
    the site, k = `PRIOR_PULLS`, c = `BONUS`. Pulls in flight count with reward 0. Logarithms prevent one page with a
    thousand links from dominating its group for ever.

    Notes
    -----
    O(groups) per choice. The state is a function of the pulls, in the order in which they ended.

    References
    ----------
    .. [1] Gauquier, Manolescu, Senellart (2026), Efficient Crawling for Scalable Web Data Acquisition,
       arXiv 2602.11874: groups of tag paths as arms of a sleeping bandit. Key, prior and index are our own.
    .. [2] Auer, Cesa-Bianchi, Fischer (2002), Finite-time Analysis of the Multiarmed Bandit Problem.
    """

    def __init__(self) -> None:
        self._pulls: dict[int, int] = {}  # including those in flight
        self._gains: dict[int, float] = {}
        self._ended = 0
        self._in_flight = 0
        self._sum = 0.0
        self._squares = 0.0

    def choose(self, waiting: Iterable[tuple[int, int]]) -> int:
        """Return the group to follow among those *waiting*, each with the number of its oldest page.

        Ties: the oldest page. Raises `ValueError` if none waits.
        """
        pulls = self._ended + self._in_flight
        mean = self._sum / pulls if pulls else 0.0
        variance = max(self._squares / pulls - mean * mean, 1e-9) if pulls > 1 else 1.0
        width = BONUS * sqrt(variance * log(pulls + 1))

        def rank(entry: tuple[int, int]) -> tuple[float, int]:
            group, oldest = entry
            weight = self._pulls.get(group, 0) + PRIOR_PULLS
            return (self._gains.get(group, 0.0) + PRIOR_PULLS * mean) / weight + width / sqrt(weight), -oldest

        return max(waiting, key=rank)[0]

    def record_request(self, group: int) -> None:
        """Record that a page of *group* is requested."""
        self._pulls[group] = self._pulls.get(group, 0) + 1
        self._in_flight += 1

    def record_reward(self, group: int, reward: float) -> None:
        """Record that a page of *group* earned *reward* >= 0."""
        gain = log1p(reward)
        self._gains[group] = self._gains.get(group, 0.0) + gain
        self._in_flight -= 1
        self._ended += 1
        self._sum += gain
        self._squares += gain * gain

    def cancel_request(self, group: int) -> None:
        """Record that the page of *group* was not requested after all."""
        self._pulls[group] -= 1
        self._in_flight -= 1
