"""How long robots.txt lets a crawl wait between two downloads from a site: as the crawl reads it, and limits it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlers.algorithms.robots_groups import product_token
from crawlers.extraction.robots_rules import RobotsRules
from crawlers.options import SETTINGS
from crawlers.storage.crawl_settings import recorded

if TYPE_CHECKING:
    from sqlalchemy import Connection

LONGEST_S: float = SETTINGS["ROBOTS_MAX_DELAY_SECONDS"].default
NAMES = ("USER_AGENT", "ROBOTSTXT_USER_AGENT", "ROBOTSTXT_OBEY", "ROBOTS_MAX_DELAY_SECONDS")
NOT_GIVEN = ("", "None")  # as values of settings are stored


class RobotsDelays(NamedTuple):
    """What decides the Crawl-delay of a crawl besides the files."""

    token: str  # product token of the crawl
    longest_s: float = LONGEST_S  # 0: robots.txt is not obeyed

    def of(self, status: int | None, text: str | None) -> float:
        """Return the delay by a robots.txt with its *status* and *text*, in seconds; 0: none, or it was not read.

        >>> RobotsDelays("mybot").of(200, "User-agent: mybot\\nCrawl-delay: 1e2")
        60.0
        """
        if status is None or "crawl-delay" not in (text or "").lower():  # most files, without the time to parse them
            return 0.0
        return min(RobotsRules(status, text, self.token).crawl_delay_s, self.longest_s)


def robots_delays(connection: Connection, crawl_id: int) -> RobotsDelays:
    """Return what decides the Crawl-delay of a crawl; what was not recorded is the default."""
    stored = {name: value for name, value in recorded(connection, crawl_id, *NAMES).items() if value not in NOT_GIVEN}
    agent = stored.get("ROBOTSTXT_USER_AGENT") or stored.get("USER_AGENT") or ""
    obeys = stored.get("ROBOTSTXT_OBEY", "True") in ("True", "true", "1")
    longest_s = float(stored.get("ROBOTS_MAX_DELAY_SECONDS") or LONGEST_S) if obeys else 0.0
    return RobotsDelays(product_token(agent) or "*", longest_s)
