"""The exceptions of this project.

    CrawlersError
    ├── ConfigError         our side: invalid user input
    │   ├── StoreUnreachable    a database that can't be opened now: does its server run?
    │   └── StoreVersionError   a database that another version of this program wrote
    ├── FrontierError       our side: the frontier was used against its contract
    ├── MissionError        our side: a mission failed, that of a user or one of ours
    ├── StoreError          our side: the store failed while the crawl ran (disk full, file removed)
    │   ├── StoreUnavailable    the store can't be reached now, and may come back
    │   └── ClaimsLost          this worker was declared lost, so it may store nothing
    ├── CrawlEnded          our side: a crawl that a process wanted to join again has ended
    ├── UnreachedError      the web's side: a crawl ended, but its sites could not be read
    ├── BadUrl              the web's side: text that no URL can be made of
    └── BadBody             the web's side: a body beyond the limits of decompression
        └── DamagedBody         a body that can't be decompressed to its end
    ReasonError         the web's side: an error with a stored reason, as the three above and those of downloads are

A message names the file, line or setting, carries the value without the passwords in it, and says what to do.
"""

from __future__ import annotations

import re

from crawlers.reasons import sentence

# Of a user (RFC 3986, section 3.2.1), in a word before its last @, also if it is no URL; and of a database URL.
_OF_USER = re.compile(r"((?:^|['\"=,/(])[^'\"=,/(:@]*):(?!//).*")
_PARAMETER = re.compile(r"((?:ssl)?password=)[^&\s'\"]*", re.IGNORECASE)


def without_passwords(text: str) -> str:
    """Return *text* without what may be a password of a URL in it; O(n), as a line of a file may have megabytes.

    >>> without_passwords("'postgres://me:a@b@host:x/name?password=c' and 'me:secret@a.example'")
    "'postgres://me:***@host:x/name?password=***' and 'me:***@a.example'"
    """
    if "@" in text:
        text = re.sub(r"\S+", _masked, text)
    return _PARAMETER.sub(r"\1***", text)


def _masked(word: re.Match[str]) -> str:
    before, at, behind = word[0].rpartition("@")
    return _OF_USER.sub(r"\1:***", before) + at + behind


class CrawlersError(Exception):
    """Anything that this project raises deliberately."""

    def __init__(self, message: str = "") -> None:
        super().__init__(without_passwords(message))


class ConfigError(CrawlersError):
    """Invalid user input: a file, a setting or a database."""


class StoreUnreachable(ConfigError):
    """The database can't be opened; a worker that begins again waits for it, because it could be opened before."""


class StoreVersionError(ConfigError):
    """The database was written by another version of this program."""


class FrontierError(CrawlersError):
    """The frontier was used against its contract: a lease ended twice, a site that was never opened."""


class MissionError(CrawlersError):
    """A mission raised what it should not; who wrote it can correct it."""


class StoreError(CrawlersError):
    """The store failed while the crawl ran; committed data is safe."""


class StoreUnavailable(StoreError):
    """The store can't be reached now: the server was stopped, the connection was cut, another process locks the file.

    Committed data is safe, and a worker that begins again when the store is back loses nothing.
    """


class ClaimsLost(StoreError):
    """The worker was declared lost, because it froze or was cut off, so its sites may be crawled by others now."""


class CrawlEnded(CrawlersError):
    """The crawl that a worker belonged to ended before it could join it again, so nothing is left to do."""


class UnreachedError(CrawlersError):
    """A crawl ended without an error of ours, but no site could be read, or one that must not be missing."""


class ReasonError(Exception):
    """An error with a stored *reason*; its message is the sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return sentence(self.reason)


class BadUrl(ReasonError, CrawlersError):
    """The text can't be made into a URL."""


class BadBody(ReasonError, CrawlersError):
    """The body of a response exceeds the limits of decompression; *begun* is what was read of it."""

    def __init__(self, reason: str, begun: bytes = b"") -> None:
        super().__init__(reason)
        self.begun = begun


class DamagedBody(BadBody):
    """The body of a response can't be decompressed to its end."""
