"""The rules and sitemaps of a robots.txt (RFC 9309), and the name by which it addresses the crawl."""

from __future__ import annotations

import codecs
import re
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING

from protego import Protego

from crawlers.errors import BadUrl, ConfigError
from crawlers.pages.robots_groups import is_unreachable, lines_for, product_token
from crawlers.reasons import Reason
from crawlers.urls.resolution import check_web, join, without_credentials

if TYPE_CHECKING:
    from crawlers.inputs.setting_readers import SettingValues

ANYBODY = "*"


def robots_token(settings: SettingValues) -> str:
    """Return the product token that ROBOTSTXT_USER_AGENT or else USER_AGENT contains; `*` if USER_AGENT has none.

    Raises `ConfigError` if ROBOTSTXT_USER_AGENT has none.
    """
    named = settings.get("ROBOTSTXT_USER_AGENT")
    if named:
        token = product_token(named)
        if token is None:
            raise ConfigError(
                f"ROBOTSTXT_USER_AGENT={named!r} contains no name; write one of letters, digits, - and _, such as mybot"
            )
        return token
    return product_token(settings.get("USER_AGENT") or "") or ANYBODY


MAX_BYTES = 512_000  # RFC 9309 section 2.5: at least 500 KiB must be read
_SITEMAP_URL = re.compile(r"^([ \t]*sitemap[ \t]*:[ \t]*)(\S+)", re.IGNORECASE | re.MULTILINE)
_MARKS = (  # byte order marks; that of UTF-32 LE begins like that of UTF-16 LE
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
MAX_SITEMAPS = 1000
_SITEMAP = re.compile(r"^[ \t\ufeff]*sitemap[ \t]*:[ \t]*([^\s#]+)", re.I | re.M)
MAX_REDIRECTS = 5  # section 2.3.1.2

# Rules with `*` or `$` are compared with a URL one by one, which takes 1 µs, and up to 20 µs in a hostile file: at most
# 40 ms per URL. Files that people maintain contain some hundred.
MAX_WILDCARDS = 2_000


class RobotsRules:
    """The rules of a site's robots.txt for the product *token*.

    A missing file (4xx) allows everything; an unreachable one (5xx, no response) disallows everything
    (section 2.3.1.4), and so does one with more than MAX_WILDCARDS different rules with wildcards.
    """

    __slots__ = ("_rules", "_why", "crawl_delay_s", "size")

    def __init__(self, status: int, body: str | None, token: str) -> None:
        """*body* is the file, or the reason why there was no response (status 0)."""
        self._why: str | None = None  # everything is disallowed
        self._rules: Protego | None = None  # None: everything is allowed
        self.crawl_delay_s = 0.0
        self.size = 1  # number of lines in memory
        if is_unreachable(status):
            self._why = Reason.ROBOTS_UNREAD.of(Reason.STATUS.of(status) if status else body or Reason.NO_RESPONSE)
        elif status == 200 and body:
            self._parse(list(dict.fromkeys(lines_for(body, token))))

    def _parse(self, lines: list[str]) -> None:
        self.size += len(lines)
        if sum("*" in line or line.endswith("$") for line in lines) > MAX_WILDCARDS:
            self._why = Reason.ROBOTS_WILDCARDS.of(MAX_WILDCARDS)
            return
        # Protego reads the lines of a single group, and takes only `*` for a match.
        self._rules = Protego.parse("\n".join(["User-agent: *", *lines]))
        self.crawl_delay_s = self._rules.crawl_delay("*") or 0.0

    def reason_against(self, url: str) -> str | None:
        """Return why *url* must not be fetched, or None."""
        if self._why is not None:
            return self._why
        if self._rules is not None and not self._rules.can_fetch(url, "*"):
            return Reason.ROBOTS_DISALLOWS
        return None


def robots_text(body: bytes) -> str:
    """Return the text of a robots.txt: its first MAX_BYTES, without a line that exceeds them.

    The rest of such a line might be what restricts it. Users and passwords in addresses of sitemaps are left out.
    UTF-16 and UTF-32 are known by their byte order marks.

    >>> robots_text(b"\\xef\\xbb\\xbfUser-agent: *")
    'User-agent: *'
    """
    is_cut = len(body) > MAX_BYTES
    body = body[: MAX_BYTES + 1]
    encoding = next((encoding for mark, encoding in _MARKS if body.startswith(mark)), "utf-8-sig")
    text = body.decode(encoding, "replace").replace("\0", "")
    if is_cut:
        text = text[: max(0, text.rfind("\n"), text.rfind("\r"))]
    return _SITEMAP_URL.sub(lambda found: found[1] + without_credentials(found[2]), text) if "@" in text else text


def sitemaps_of_robots(text: str, address: str) -> list[str]:
    """Return the sitemap URLs in the robots.txt of *address* (scheme://host[:port]), without duplicates.

    Relative ones, which the protocol does not allow, are resolved like links. Of what it names, the first
    `MAX_SITEMAPS` are looked at.

    >>> sitemaps_of_robots("Sitemap: https://example.com/news.xml # daily\\nSitemap: map.xml", "http://a.example")
    ['https://example.com/news.xml', 'http://a.example/map.xml']
    """
    found: dict[str, None] = {}
    for named in [*dict.fromkeys(_SITEMAP.findall(text))][:MAX_SITEMAPS]:
        with suppress(BadUrl):
            url = join(address, named)
            check_web(url)
            found[url] = None
    return [*found]


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
