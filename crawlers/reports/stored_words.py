"""The texts of ours that a store holds: reasons, kinds, places. They are stored, exported and printed in English.

Here they are recognised, so that the panel can show them in the language of its reader. What is not recognised is text
of strangers, or of an earlier version, and is shown as it is. A test compares the templates with what the code stores.
"""

from __future__ import annotations

import re
from functools import lru_cache

from crawlers.reports.histories.history import N_, Said, Words

# In the order in which they are tried. The parts %(reason)s, %(further)s and %(why)s may be such texts themselves.
TEMPLATES = (
    # around others
    N_("%(reason)s, %(number)s attempts"),
    N_("%(reason)s (requested for robots.txt)"),
    N_("not reachable: %(why)s, next attempt in %(seconds)s s"),
    N_("not reachable: %(why)s"),
    N_("not available: %(why)s, next attempt in %(seconds)s s"),
    N_("not available: %(why)s"),
    # downloads
    N_("timeout"),
    N_("host name not found"),
    N_("connection refused"),
    N_("the connection failed"),
    N_("the connection was closed within the body"),
    N_("the connection was closed within the file"),
    N_("no connection is possible"),
    N_("the TLS connection failed"),
    N_("certificate expired"),
    N_("certificate not valid yet"),
    N_("certificate for another host"),
    N_("certificate self-signed"),
    N_("certificate of an unknown issuer"),
    N_("certificate that can't be read"),
    N_("the response is not HTTP"),
    N_("no response"),
    N_("too large"),
    N_("too large once decompressed"),
    N_("too large once rendered"),
    N_("a header of more than %(size)s KiB"),
    N_("headers of more than %(size)s KiB"),
    N_("more than %(number)s headers"),
    N_("more than %(number)s content encodings"),
    N_("more than %(number)s compressed parts"),
    N_("the content encoding %(name)s is damaged"),
    N_("the body ended early"),
    N_("more than %(number)s links; the rest were ignored"),
    N_("status %(status)s without a location"),
    N_("content type %(type)s"),
    N_("no content type"),
    N_("redirects to another site: %(url)s"),
    N_("redirects to a bad URL: %(why)s"),
    N_("redirects to itself"),
    N_("redirects to %(url)s, which the crawl does not request"),
    N_("redirects to %(url)s"),
    N_("redirected to %(url)s"),
    N_("more than %(number)s redirects"),
    N_("the redirects form a loop"),
    N_("not requested yet"),
    N_("not rendered within %(seconds)s s"),
    N_("it needs more memory than a page may have"),
    N_("its scripts crashed the browser, as they do without memory"),
    N_("the browser was closed or killed"),
    N_("the browser failed: %(error)s"),
    N_("the spider failed: %(why)s"),
    N_("replaced by a request to %(url)s, which was refused"),
    N_("replaced by a request to %(url)s"),
    # URLs that are not requested
    N_("robots.txt disallows it"),
    N_("robots.txt can't be read: %(why)s"),
    N_("robots.txt has more than %(number)s rules with wildcards"),
    N_("extension %(extension)s"),
    N_("too deep: level %(level)s, the limit is %(limit)s"),
    N_("not selected: URL_EXCLUDE has %(expression)s"),
    N_("not selected: no expression of URL_INCLUDE matches it"),
    N_("not selected: outside of the folder %(folder)s"),
    N_("not selected: %(address)s is not an address of %(site)s"),
    N_("trap: %(number)s pages like %(pattern)s repeat the same content"),
    N_("trap: the URL is longer than %(number)s characters"),
    N_("trap: the URL has more than %(number)s parameters"),
    N_("trap: the path has more than %(number)s segments"),
    N_("trap: a segment occurs %(number)s times in the path"),
    N_("%(name)s is a proxy of the crawl"),
    N_("%(host)s has the address %(address)s, which is not public: %(network)s"),
    N_("address %(address)s, which is not public: %(network)s"),
    # bad links
    N_("not a URL"),
    N_("scheme %(scheme)s"),
    N_("longer than %(number)s characters"),
    # articles, feeds and sitemaps
    N_("no text"),
    N_("no title"),
    N_("too deep"),
    N_("too little evidence for an article"),
    N_("its content is that of a list of links"),
    N_("extraction failed: %(error)s"),
    N_("took longer than %(seconds)s s"),
    N_("killed its process"),
    N_("%(reason)s as document %(number)s"),
    N_("same bytes"),
    N_("same URL"),
    N_("same canonical URL"),
    N_("same text"),
    N_("nearly the same text"),
    N_("is not a feed"),
    N_("is not a sitemap"),
    N_("not a sitemap"),
    N_("broken XML: %(error)s"),
    N_("invalid JSON: %(error)s"),
    N_("invalid feed address: %(error)s"),
    N_("feed too long: the rest was ignored"),
    N_("more than %(number)s entries: the rest was ignored"),
    N_("%(number)s of its sitemaps are not read"),
    N_("%(number)s of its URLs are ignored"),
    N_("not requested: those before it gave no response"),
    N_("not requested: those before it list %(number)s URLs"),
    # alarms
    N_("dead feed"),
    N_("source unreachable"),
    N_("silent source"),
    N_("failing extraction"),
    N_("no discovery"),
    # kinds, places, states and origins
    N_("feed"),
    N_("sitemap"),
    N_("sitemap index"),
    N_("news sitemap"),
    N_("page"),
    N_("home"),
    N_("article"),
    N_("nav"),
    N_("header"),
    N_("footer"),
    N_("main"),
    N_("aside"),
    N_("redirect"),
    N_("waiting"),
    N_("read"),
    N_("not read"),
    N_("internal"),
    N_("external"),
    N_("bad"),
    N_("store"),
    N_("store, %(file)s"),
    N_("hand"),
    N_("learnt"),
    N_("status %(status)s"),
    N_("%(reason)s; %(further)s"),
)
WORDED = frozenset({"reason", "further", "why"})  # parts that are texts of ours
_PART = re.compile(r"%\((\w+)\)s")
_NUMERIC = frozenset({"number", "size", "seconds", "level", "limit", "status"})


def _expression(template: str) -> re.Pattern[str]:
    parts = _PART.split(template)
    named = (
        f"(?P<{text}>{r'[0-9.,]+|None' if text in _NUMERIC else '.+'})" if place % 2 else re.escape(text)
        for place, text in enumerate(parts)
    )
    return re.compile("".join(named), re.DOTALL)


_EXPRESSIONS = tuple((template, _expression(template)) for template in TEMPLATES)


@lru_cache(4096)
def recognised(text: str) -> Said | None:
    """Return the sentence that *text* is, with its parts; None: it is not one of ours.

    >>> recognised("status 404, 3 attempts").parts["reason"]
    Words(text='status 404')
    >>> recognised("a title; a page")
    """
    for template, expression in _EXPRESSIONS:
        match = expression.fullmatch(text)
        if match is None:
            continue
        parts = match.groupdict()
        worded = WORDED & parts.keys()
        if {"reason", "further"} & worded and any(recognised(parts[name]) is None for name in worded):
            continue  # anything may stand before a semicolon
        return Said(template, {name: Words(part) if name in worded else part for name, part in parts.items()})
    return None
