"""Why something has its state: the codes that the store holds, and the only sentences that people read for them.

A stored reason is the code, followed by the parts of its sentence, separated by spaces: `status 404`, `too_deep 3 2`.
Only the last part may have spaces itself; a part *why* is the last one, and a stored reason as well.
"""

from __future__ import annotations

import re
from enum import StrEnum, unique

_PART = re.compile(r"%\((\w+)\)s")


class ErrorClass(StrEnum):
    """The classes of errors, of which there are few: each is a time series of a monitoring system."""

    TIMEOUT = "timeout"
    HOST_NOT_FOUND = "host_not_found"
    CONNECTION_REFUSED = "connection_refused"
    CONNECTION_FAILED = "connection_failed"  # closed, reset, TLS
    OVERLOADED = "overloaded"  # status 429 or 503
    SERVER_ERROR = "server_error"  # other statuses of 500 or more
    CLIENT_ERROR = "client_error"  # other statuses from 400 to 499
    REDIRECT = "redirect"  # to another site or nowhere, or too many
    OTHER_STATUS = "other_status"  # neither 200, nor a redirect, nor an error
    CONTENT_TYPE = "content_type"
    TOO_LARGE = "too_large"
    BAD_RESPONSE = "bad_response"  # not HTTP, or a body that can't be decompressed
    RENDERING = "rendering"  # of a page by the browser
    OTHER = "other"


_FAILED, _REDIRECT, _TYPE = ErrorClass.CONNECTION_FAILED, ErrorClass.REDIRECT, ErrorClass.CONTENT_TYPE
_LARGE, _BAD, _RENDERING = ErrorClass.TOO_LARGE, ErrorClass.BAD_RESPONSE, ErrorClass.RENDERING


@unique
class Reason(StrEnum):
    """The codes. A member is a stored reason itself if its *sentence* has no *parts*; see `of` for the others."""

    sentence: str
    error_class: ErrorClass
    parts: tuple[str, ...]

    def __new__(cls, code: str, sentence: str = "", error_class: ErrorClass = ErrorClass.OTHER) -> Reason:
        member = str.__new__(cls, code)
        member._value_ = code
        member.sentence = sentence
        member.error_class = error_class
        member.parts = tuple(sorted(_PART.findall(sentence), key="why".__eq__))
        return member

    # Downloads that failed
    TIMEOUT = "timeout", "timeout", ErrorClass.TIMEOUT
    HOST_NOT_FOUND = "host_not_found", "host name not found", ErrorClass.HOST_NOT_FOUND
    CONNECTION_REFUSED = "connection_refused", "connection refused", ErrorClass.CONNECTION_REFUSED
    CONNECTION_FAILED = "connection_failed", "the connection failed", _FAILED
    CLOSED_IN_BODY = "closed_in_body", "the connection was closed within the body", _FAILED
    NO_CONNECTION = "no_connection", "no connection is possible", _FAILED
    TLS_FAILED = "tls_failed", "the TLS connection failed", _FAILED
    CERTIFICATE_EXPIRED = "certificate_expired", "certificate expired", _FAILED
    CERTIFICATE_EARLY = "certificate_early", "certificate not valid yet", _FAILED
    CERTIFICATE_OF_OTHER_HOST = "certificate_of_other_host", "certificate for another host", _FAILED
    CERTIFICATE_SELF_SIGNED = "certificate_self_signed", "certificate self-signed", _FAILED
    CERTIFICATE_UNKNOWN_ISSUER = "certificate_unknown_issuer", "certificate of an unknown issuer", _FAILED
    CERTIFICATE_UNREADABLE = "certificate_unreadable", "certificate that can't be read", _FAILED
    NOT_HTTP = "not_http", "the response is not HTTP", _BAD
    NO_RESPONSE = "no_response", "no response"
    RENDERING_TIMEOUT = "rendering_timeout", "not rendered within %(seconds)s s", _RENDERING
    RENDERING_MEMORY = "rendering_memory", "it needs more memory than a page may have", _RENDERING
    RENDERING_CRASH = "rendering_crash", "its scripts crashed the browser, as they do without memory", _RENDERING
    BROWSER_CLOSED = "browser_closed", "the browser was closed or killed", _RENDERING
    BROWSER_FAILED = "browser_failed", "the browser failed: %(error)s", _RENDERING
    ERROR = "error", "%(name)s: %(error)s"
    SPIDER_FAILED = "spider_failed", "the spider failed: %(why)s"
    PIPELINE_FAILED = "pipeline_failed", "a pipeline failed: %(why)s"
    PIPELINE_DROPPED = "pipeline_dropped", "a pipeline dropped it: %(why)s"
    REQUEST_LOST = "request_lost", "the request could not be written as JSON and was lost with its process"
    REQUEST_OUTDATED = "request_outdated", "the spider has changed, the request can't be recreated: %(error)s"
    REPLACED = "replaced", "replaced by a request to %(url)s"
    REPLACED_IN_VAIN = "replaced_in_vain", "replaced by a request to %(url)s, which was refused"
    # Responses that are not pages, or not whole ones
    STATUS = "status", "status %(status)s"
    CONTENT_TYPE = "content_type", "content type %(type)s", _TYPE
    NO_CONTENT_TYPE = "no_content_type", "no content type", _TYPE
    TOO_LARGE = "too_large", "too large", _LARGE
    TOO_LARGE_DECOMPRESSED = "too_large_decompressed", "too large once decompressed", _LARGE
    TOO_LARGE_RENDERED = "too_large_rendered", "too large once rendered", _LARGE
    LONG_HEADER = "long_header", "a header of more than %(number)s KiB", _LARGE
    LONG_HEADERS = "long_headers", "headers of more than %(number)s KiB", _LARGE
    MANY_HEADERS = "many_headers", "more than %(number)s headers", _LARGE
    MANY_ENCODINGS = "many_encodings", "more than %(number)s content encodings", _BAD
    MANY_COMPRESSED_PARTS = "many_compressed_parts", "more than %(number)s compressed parts", _BAD
    DAMAGED_ENCODING = "damaged_encoding", "the content encoding %(name)s is damaged", _BAD
    BODY_CUT = "body_cut", "the body ended early"
    LINKS_CUT = "links_cut", "%(number)s links were not read: the page has too many"
    REDIRECTED = "redirected", "redirected to %(url)s", _REDIRECT
    REDIRECT_WITHOUT_LOCATION = "redirect_without_location", "status %(status)s without a location", _REDIRECT
    REDIRECT_TO_BAD_URL = "redirect_to_bad_url", "redirects to a bad URL: %(why)s", _REDIRECT
    REDIRECT_TO_OTHER_SITE = "redirect_to_other_site", "redirects to another site: %(url)s", _REDIRECT
    REDIRECT_TO_REFUSED = "redirect_to_refused", "redirects to %(url)s, which the crawl does not request", _REDIRECT
    REDIRECT_TO_BROKEN = "redirect_to_broken", "redirects to %(url)s: %(why)s", _REDIRECT
    REDIRECT_TO_ITSELF = "redirect_to_itself", "redirects to itself", _REDIRECT
    REDIRECT_LOOP = "redirect_loop", "the redirects form a loop", _REDIRECT
    MANY_REDIRECTS = "many_redirects", "more than %(number)s redirects", _REDIRECT
    # URLs that are not requested
    NOT_REQUESTED_YET = "not_requested_yet", "not requested yet"
    ROBOTS_DISALLOWS = "robots_disallows", "robots.txt disallows it"
    ROBOTS_UNREAD = "robots_unread", "robots.txt can't be read: %(why)s"
    ROBOTS_WILDCARDS = "robots_wildcards", "robots.txt has more than %(number)s rules with wildcards"
    EXTENSION = "extension", "extension %(extension)s"
    TOO_DEEP = "too_deep", "too deep: level %(level)s, the limit is %(limit)s"
    EXCLUDED = "excluded", "not selected: URL_EXCLUDE has %(expression)s"
    NOT_INCLUDED = "not_included", "not selected: no expression of URL_INCLUDE matches it"
    OUTSIDE_FOLDER = "outside_folder", "not selected: outside of the folder %(folder)s"
    OTHER_ADDRESS = "other_address", "not selected: %(address)s is not an address of %(site)s"
    TRAP_CONTENT = "trap_content", "trap: %(number)s pages like %(pattern)s repeat the same content"
    TRAP_LENGTH = "trap_length", "trap: the URL is longer than %(number)s characters"
    TRAP_PARAMETERS = "trap_parameters", "trap: the URL has more than %(number)s parameters"
    TRAP_SEGMENTS = "trap_segments", "trap: the path has more than %(number)s segments"
    TRAP_LOOP = "trap_loop", "trap: a segment occurs %(number)s times in the path"
    PROXY = "proxy", "%(address)s is a proxy of the crawl"
    PRIVATE_HOST = "private_host", "%(host)s has the address %(address)s, which is not public: %(network)s"
    PRIVATE_ADDRESS = "private_address", "address %(address)s, which is not public: %(network)s"
    STORED_EARLIER = "stored_earlier", "document %(document)s of an earlier crawl"
    FEED_REMOVED = "feed_removed", "a feed that was removed, or whose source is left out"
    # Links that can't be followed
    NOT_A_URL = "not_a_url", "not a URL"
    OTHER_SCHEME = "other_scheme", "scheme %(scheme)s"
    LONG_URL = "long_url", "longer than %(number)s characters"
    # Pages that are not documents
    NO_TEXT = "no_text", "no text"
    NO_TITLE = "no_title", "no title"
    NESTED_TOO_DEEP = "nested_too_deep", "its elements are nested too deep"
    UNSURE = "unsure", "too little evidence for an article"
    LIST_OF_LINKS = "list_of_links", "its content is that of a list of links"
    EXTRACTION_FAILED = "extraction_failed", "extraction failed: %(error)s"
    TOOK_TOO_LONG = "took_too_long", "took longer than %(seconds)s s"
    KILLED_ITS_PROCESS = "killed_its_process", "killed its process"
    NO_MEMORY = "no_memory", "needs too much memory"
    SAME_URL = "same_url", "same URL as document %(document)s"
    SAME_CANONICAL = "same_canonical", "same canonical URL as document %(document)s"
    SAME_TEXT = "same_text", "same text as document %(document)s"
    NEARLY_SAME_TEXT = "nearly_same_text", "nearly the same text as document %(document)s"
    # Feeds and sitemaps
    NOT_A_FEED = "not_a_feed", "is not a feed"
    NOT_A_SITEMAP = "not_a_sitemap", "is not a sitemap"
    HTML_PAGE = "html_page", "not a feed but an HTML page"
    FEED_OTHER_ROOT = "feed_other_root", "not a feed: its first element is <%(name)s>"
    FEED_EMPTY = "feed_empty", "not a feed: it has no element"
    FEED_UNREADABLE = "feed_unreadable", "feedparser failed: %(error)s"
    GZIP_DAMAGED = "gzip_damaged", "the gzip data is damaged"
    GZIP_CUT = "gzip_cut", "the gzip data is truncated"
    GZIP_LARGE = "gzip_large", "longer than %(number)s bytes: the rest was ignored"
    FEED_BROKEN = "feed_broken", "broken XML: %(error)s"
    FEED_INVALID = "feed_invalid", "invalid JSON: %(error)s"
    FEED_WITHOUT_ITEMS = "feed_without_items", "not a JSON Feed: it has no list of items"
    FEED_ADDRESS = "feed_address", "invalid feed address: %(why)s"
    FEED_CUT = "feed_cut", "feed too long: the rest was ignored"
    FEED_REST = "feed_rest", "%(number)s entries were read so far, the others follow at the next polls"
    FILE_CUT = "file_cut", "the connection was closed within the file"
    MANY_ENTRIES = "many_entries", "more than %(number)s entries: the rest was ignored"
    BEYOND_LIMITS = "beyond_limits", "beyond the limits: %(sitemaps)s of its sitemaps and %(urls)s of its URLs"
    SITEMAP_OF_OTHER_SITE = "sitemap_of_other_site", "on another site, which the crawl does not request"
    SITEMAPS_SILENT = "sitemaps_silent", "not requested: those before it gave no response"
    SITEMAPS_FULL = "sitemaps_full", "not requested: those before it list %(number)s URLs"
    # Sites
    NOT_REACHABLE = "not_reachable", "not reachable: %(why)s"
    NOT_REACHABLE_YET = "not_reachable_yet", "not reachable: %(why)s, next attempt in %(seconds)s s"
    NOT_AVAILABLE = "not_available", "not available: %(why)s"
    NOT_AVAILABLE_YET = "not_available_yet", "not available: %(why)s, next attempt in %(seconds)s s"
    # Ends of crawls, besides a timeout
    FINISHED = "finished", "finished"
    PAGE_BUDGET = "page_budget", "the page budget is used up"
    STOP_FILE = "stop_file", "stopped by its stop file"
    SHUTDOWN = "shutdown", "stopped on request"
    COULD_NOT_BEGIN = "could_not_begin", "it could not begin"
    LOST_PAGES = "lost_pages", "pages were fetched, but not recorded"
    STORE_FAILED = "store_failed", "an error, which was logged"
    MISSION_FAILED = "mission_failed", "an error of its mission, which was logged"
    NO_BROWSER = "no_browser", "Chromium can't be started"

    def of(self, *details: object) -> str:
        """Return the stored reason with these *details*, in the order of the parts.

        >>> Reason.TOO_DEEP.of(3, 2), Reason.ROBOTS_UNREAD.of(Reason.TIMEOUT)
        ('too_deep 3 2', 'robots_unread timeout')
        """
        if len(details) != len(self.parts):
            raise TypeError(f"{self} has the parts {self.parts}, got {details}")
        *first, last = (self, *details)
        return " ".join([*(str(one).replace(" ", "%20") for one in first), str(last)])  # as in URLs


REVIVABLE_REASONS = frozenset(  # they may no longer apply later, so that the URL is fetched after all
    {Reason.TOO_DEEP, Reason.EXCLUDED, Reason.NOT_INCLUDED, Reason.OUTSIDE_FOLDER, Reason.OTHER_ADDRESS}
)
OF_USERS_CODE = frozenset({Reason.SPIDER_FAILED, Reason.PIPELINE_FAILED, Reason.PIPELINE_DROPPED})
NOT_SELECTED = REVIVABLE_REASONS - {Reason.TOO_DEEP}
ROBOTS = frozenset({Reason.ROBOTS_DISALLOWS, Reason.ROBOTS_UNREAD, Reason.ROBOTS_WILDCARDS})
TRAPS = frozenset(one for one in Reason if one.startswith("trap_"))
COPIES = frozenset(one for one in Reason if one.parts == ("document",)) - {Reason.STORED_EARLIER}


def code_of(reason: str | None) -> Reason | None:
    """Return the code of a stored *reason*; None if there is none."""
    return Reason(reason.partition(" ")[0]) if reason else None


def parsed(reason: str) -> tuple[Reason, dict[str, str]]:
    """Return the code of a stored *reason*, and its parts by name.

    >>> parsed("content_type text/plain; charset=utf-8")
    (<Reason.CONTENT_TYPE: 'content_type'>, {'type': 'text/plain; charset=utf-8'})
    """
    code = Reason(reason.partition(" ")[0])
    return code, dict(zip(code.parts, reason.split(" ", len(code.parts))[1:], strict=True))


def sentence(reason: str | None) -> str:
    """Return what people read for a stored *reason*; "" if there is none.

    >>> sentence("not_reachable_yet 30 robots_unread timeout")
    "not reachable: robots.txt can't be read: timeout, next attempt in 30 s"
    """
    if not reason:
        return ""
    code, parts = parsed(reason)
    if "why" in parts:
        parts["why"] = sentence(parts["why"])
    if "number" in parts:
        parts["number"] = f"{int(parts['number']):,}"
    return code.sentence % parts


def end_of(reason: str | None) -> str:
    """Return what people read for why a crawl ended: for one of our codes, or a text of Scrapy or of any spider."""
    return sentence(reason) if reason in set(Reason) else reason or ""


def brief(reason: str | None) -> str:
    """Return what a stored *reason* has in common with others of its kind.

    That is its sentence up to a colon, without the number of a document.

    >>> brief("trap_loop 4"), brief("status 404"), brief("same_url 17")
    ('trap', 'status 404', 'same URL as document')
    """
    if not reason:
        return ""
    code, parts = parsed(reason)
    return code.sentence.replace(" %(document)s", "").partition(": ")[0] % parts


def codes_with(word: str) -> list[Reason]:
    """Return the codes with *word* in their sentences, whatever the case of its letters."""
    return [code for code in Reason if word.lower() in _PART.sub("", code.sentence).lower()]
