"""The rules of a robots.txt (RFC 9309)."""

from __future__ import annotations

from protego import Protego

LARGEST_BYTES = 512_000  # RFC 9309 section 2.5: at least 500 KiB must be read
MAX_REDIRECTS = 5  # section 2.3.1.2
UNREACHABLE = 0  # instead of a status: there was no response
TOO_MANY_REQUESTS = 429  # unlike other 4xx (section 2.3.1.3), this does not mean that there are no rules


class RobotsRules:
    """The rules of a site's robots.txt for *agent*.

    A missing file (4xx) allows everything; an unreachable one (5xx, no response) disallows everything
    (section 2.3.1.4).
    """

    __slots__ = ("_agent", "_rules", "_why", "crawl_delay_s", "status")

    def __init__(self, status: int, body: str | None, agent: str) -> None:
        """*body* is the file, or the reason why there was no response (status 0)."""
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
        """Return why *url* must not be fetched, or None."""
        if self.is_unreachable:
            return f"robots.txt can't be read: {self._why}"
        if self._rules is not None and not self._rules.can_fetch(url, self._agent):
            return "robots.txt disallows it"
        return None
