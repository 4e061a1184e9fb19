"""The raw parts of an article from one source; empty where the source has no value."""

from __future__ import annotations

from typing import NamedTuple


class ArticleParts(NamedTuple):
    """The values of one source (a rule, JSON-LD, meta tags …) for the article of a page, as written there."""

    title: str = ""
    text: str = ""
    published: str = ""
    authors: tuple[str, ...] = ()
    section: str = ""
    language: str = ""
    canonical: str = ""
    image: str = ""
    site_name: str = ""
    organisations: tuple[str, ...] = ()  # the authors that are no persons
    description: str = ""
    keywords: tuple[str, ...] = ()
    modified: str = ""
    is_free: bool | None = None
