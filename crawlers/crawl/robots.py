"""robots.txt of every site: asked for before the site's first page, kept in the store (RFC 9309)."""

from __future__ import annotations

from protego import Protego

LARGEST_BYTES = 512_000  # RFC 9309 section 2.5: at least 500 KiB must be read
MAX_REDIRECTS = 5  # section 2.3.1.2
UNREACHABLE = 0
TOO_MANY_REQUESTS = 429  # a refusal for load says nothing about the rules, whatever section 2.3.1.3 says of 4xx


class RobotsRules:
    """What one site's robots.txt allows *agent*.

    A missing file (4xx) allows everything; an unreachable one (5xx, no answer) forbids everything
    (section 2.3.1.4), since nobody knows what it would say.
    """

    __slots__ = ("_agent", "_rules", "_why", "crawl_delay_s", "status")

    def __init__(self, status: int, body: str | None, agent: str) -> None:
        """*body*: the file; where no answer came (status 0), why."""
        self.status = status
        self._agent = agent
        self._why = f"status {status}" if status else body
        self._rules = Protego.parse(body) if status == 200 and body else None
        delay = self._rules.crawl_delay(agent) if self._rules else None
        self.crawl_delay_s = float(delay) if delay and delay > 0 else 0.0

    @property
    def is_unreachable(self) -> bool:
        return self.status in (UNREACHABLE, TOO_MANY_REQUESTS) or self.status >= 500

    def reason_against(self, url: str) -> str | None:
        """Why *url* may not be fetched, or None."""
        if self.is_unreachable:
            return f"robots.txt can't be read: {self._why}"
        if self._rules is not None and not self._rules.can_fetch(url, self._agent):
            return "robots.txt disallows it"
        return None
