"""Keeps the rules of robots.txt files in memory, those that were used most recently."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlers.extraction.robots_rules import RobotsRules

MAX_FILES, MAX_LINES = 5_000, 500_000  # lines of all files, some 300 bytes each


class RobotsCache:
    """The rules of robots.txt by address: of at most MAX_FILES with at most MAX_LINES, but always of the latest."""

    def __init__(self) -> None:
        self._rules: OrderedDict[str, RobotsRules] = OrderedDict()
        self._lines = 0

    def get(self, address: str) -> RobotsRules | None:
        """Return the rules of *address*; None if they are not in memory."""
        rules = self._rules.get(address)
        if rules is not None:
            self._rules.move_to_end(address)
        return rules

    def keep(self, address: str, rules: RobotsRules) -> list[str]:
        """Add or replace the rules of *address*; return the addresses whose rules were dropped for them."""
        if (old := self._rules.pop(address, None)) is not None:
            self._lines -= old.size
        self._rules[address] = rules
        self._lines += rules.size
        dropped = []
        while len(self._rules) > MAX_FILES or (self._lines > MAX_LINES and len(self._rules) > 1):
            last, old = self._rules.popitem(last=False)
            self._lines -= old.size
            dropped.append(last)
        return dropped
