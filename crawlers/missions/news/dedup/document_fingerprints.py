"""Fingerprints that identify duplicates among the documents of a domain: 128-bit keys of URLs and texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import xxhash

from crawlers.errors import BadUrl
from crawlers.missions.news.dedup.min_hash import bands
from crawlers.missions.news.dedup.shingles import words
from crawlers.missions.news.news_items import DocumentFingerprint
from crawlers.options import SETTINGS
from crawlers.urls.domains import domain_group
from crawlers.urls.keys import signed
from crawlers.urls.normalization import Normalization
from crawlers.urls.resolution import normalize, site_of

if TYPE_CHECKING:
    from crawlers.missions.news.news_items import Article, Key128

FEW_WORDS = 50  # shorter texts (a caption, "for subscribers only") are compared together with their title
_HALF = (1 << 64) - 1

# Parameters that only identify the referrer, in addition to those that normalisation ignores.
_CAMPAIGNS = (
    "at_* gbraid hsa_* igsh igshid itm_* matomo_* mkt_tok mtm_* ns_campaign ns_linkname ns_mchannel ns_source "
    "ocid piwik_* pk_* ttclid twclid vero_* wbraid wt_mc wt_zmc xtor _ga _gl _hsenc _hsmi"
)
_FORM = Normalization(ignored_parameters=(*SETTINGS["URL_IGNORED_PARAMETERS"].default, *_CAMPAIGNS.split()))
# Ambiguous names, which count only with these values: `from` may also be the first page of a listing.
_REFERRER = re.compile(
    r"(?<=[?&])(?:from|ref|referer|referrer|source|src)="
    r"(?:atom|email|facebook|fb|feed|mail|newsletter|push|rss|share|telegram|tg|twitter|vk|whatsapp)(?:&|$)",
    re.IGNORECASE,
)


def document_fingerprint(url: str, article: Article) -> DocumentFingerprint:
    """Return the fingerprint of the *article* on the page *url*; takes some 0.5 ms for 3,000 characters.

    A canonical URL on another domain, or that of the home page, is ignored: some sites have it on all pages. Raises
    `BadUrl` if *url* is not http or https.
    """
    domain = domain_of(url)
    compared = compared_words(article.title, article.text)
    own = url_key128(domain, url)
    canonical = _canonical_key(domain, article.canonical_url)
    return DocumentFingerprint(
        domain, own, None if canonical == own else canonical, text_key128(domain, compared), bands(domain, compared)
    )


def domain_of(url: str) -> str:
    """Return the registered domain of *url*, else its host: only documents of one domain are compared.

    Raises `BadUrl` if *url* is not http or https.

    >>> domain_of("https://www.news.example.co.uk/a"), domain_of("http://127.0.0.1:8600/a")
    ('example.co.uk', '127.0.0.1:8600')
    """
    return domain_group(site_of(url)).removeprefix("www.")  # a host without a registered domain


def compared_words(title: str, text: str) -> list[str]:
    """Return the words by which documents are compared: those of *text*, preceded by those of *title* if they are few.

    >>> compared_words("Our Town", "Photo: Smith")
    ['our', 'town', 'photo', 'smith']
    """
    found = words(text)
    return found if len(found) >= FEW_WORDS else [*words(title), *found]


def url_key128(domain: str, url: str) -> Key128:
    """Return the key that all variants of *url* share: http and https, with and without www. and campaigns.

    Raises `BadUrl` if *url* is not http or https.

    >>> url = "https://www.example.org/news/17?utm_source=x&from=rss"
    >>> url_key128("example.org", url) == url_key128("example.org", "http://example.org/news/17/")
    True
    """
    form = normalize(_REFERRER.sub("", url), _FORM).partition("://")[2].removeprefix("www.")
    return _key("url", domain, form)


def text_key128(domain: str, words: list[str]) -> Key128:
    """Return the key of a text with these *words*; case, punctuation and layout do not matter.

    >>> text_key128("a.org", words("Hello, World")) == text_key128("a.org", words("hello\\n world!"))
    True
    """
    return _key("text", domain, " ".join(words))


def body_key128(domain: str, content_hash: bytes) -> Key128:
    """Return the key of a response body, given its *content_hash*: equal bodies are parsed only once."""
    return _key("body", domain, content_hash.hex())


def _canonical_key(domain: str, canonical: str) -> Key128 | None:
    try:
        form = normalize(canonical)
        if not canonical or domain_of(form) != domain or (form.count("/") == 3 and form.endswith("/")):
            return None
        return url_key128(domain, canonical)
    except BadUrl:
        return None


def _key(kind: str, domain: str, text: str) -> Key128:
    number = xxhash.xxh3_128_intdigest(f"{kind} {domain} {text}".encode("utf-8", "surrogatepass"))
    return signed(number >> 64), signed(number & _HALF)
