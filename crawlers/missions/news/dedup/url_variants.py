"""Recognises by its URL that a page is another form of an article: for printers, or for AMP."""

from __future__ import annotations

import re

_FORMS = re.compile(
    r"(?<=[?&])(?:amp|print(?:able)?)(?:=(?:1|true|yes|y)?)?(?:&|\Z)|(?<=[^/]/)(?:amp|print)(?:/|\Z|(?=\?))", re.I
)
_IDLE = re.compile(r"[?&]+\Z")  # what is left of a query


def original_url(url: str) -> str:
    """Return the URL of the page of which *url* is another form, or *url* itself.

    >>> original_url("https://a.example/news/17/print/?print=1")
    'https://a.example/news/17/'
    """
    return _IDLE.sub("", _FORMS.sub("", url))
