"""The parts of an article as one source of them gives them: raw, unjudged, empty where the source says nothing."""

from __future__ import annotations

from typing import NamedTuple


class ArticleParts(NamedTuple):
    """What one source (a rule, JSON-LD, meta tags …) says of a page's article, in the page's words."""

    title: str = ""
    text: str = ""
    published: str = ""
    authors: tuple[str, ...] = ()
    section: str = ""
    language: str = ""
    canonical: str = ""
    image: str = ""
    site_name: str = ""
