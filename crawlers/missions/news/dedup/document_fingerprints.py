"""Fingerprints of the documents of a domain: 128-bit keys of URLs and texts, and bands of hashes.

Similar texts share some bands. Whether they are copies is then decided by their shingles (three consecutive words), and
by the numbers that replaced others.

References
----------
.. [1] Broder (1997), On the Resemblance and Containment of Documents.
.. [2] Li, Owen, Zhang (2012), One Permutation Hashing, sections 2 and 3.
"""

from __future__ import annotations

import re
import unicodedata
from struct import pack
from typing import TYPE_CHECKING

import numpy as np
import xxhash

from crawlers.errors import BadUrl
from crawlers.missions.news.news_items import DocumentFingerprint
from crawlers.options import SETTINGS
from crawlers.urls.domains import domain_group
from crawlers.urls.keys import signed
from crawlers.urls.normalization import Normalization
from crawlers.urls.resolution import normalize, site_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlers.missions.news.news_items import Article, Key128

BANDS = 12
MIN_SHARED_BANDS = 2  # of near-duplicates; if they share half of their shingles, with a probability of 0.997
# Unrelated texts share many shingles of three words ("one of the"), but hardly any of five.
SHINGLE_WORDS = 5
_MULTIPLIER = 0x9E37_79B9_7F4A_7C15  # odd: the golden ratio times 2**64, as in Fibonacci hashing


def bands(domain: str, words: list[str]) -> tuple[int, ...]:
    """Return at most `BANDS` signed 64-bit keys of a text with these *words*, in *domain*.

    Two texts have a key in common for about as many bands as they share of all their shingles (Jaccard index).

    Notes
    -----
    All shingles are hashed once. The highest bits of a hash choose the band, and the least hash of each band is its
    key. A text of few words has no key in some bands.
    """
    hashes = np.sort(_hashes_of_shingles(words))
    borders = np.arange(BANDS, dtype=np.uint64) * np.uint64((1 << 64) // BANDS)
    places = np.searchsorted(hashes, borders)
    least = hashes[places[places < len(hashes)]]
    # An empty band has found the least hash of the next one.
    seed = xxhash.xxh3_64_intdigest(domain.encode("utf-8", "surrogatepass"))
    return tuple(signed(xxhash.xxh3_64_intdigest(pack("<Q", one), seed)) for one in np.unique(least).tolist())


def _hashes_of_shingles(words: list[str]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Return a 64-bit hash of each shingle: a polynomial of the hashes of its words, mixed."""
    numbers = {word: xxhash.xxh3_64_intdigest(word.encode("utf-8", "surrogatepass")) for word in set(words)}
    sequence = np.array([numbers[word] for word in words], dtype=np.uint64)
    count = min(SHINGLE_WORDS, len(words))
    hashes = np.zeros(len(words) - count + 1 if words else 0, dtype=np.uint64)
    for start in range(count):
        hashes = hashes * np.uint64(_MULTIPLIER) + sequence[start : start + len(hashes)]
    # The finaliser of MurmurHash3 by Appleby: all bits depend on all others.
    for factor in (0xFF51_AFD7_ED55_8CCD, 0xC4CE_B9FE_1A85_EC53):
        hashes = (hashes ^ (hashes >> np.uint64(33))) * np.uint64(factor)
    return hashes ^ (hashes >> np.uint64(33))


COMPARED_WORDS = 3
# A reprint and its original:
MIN_REPEATED = 0.75  # of the shingles of the reprint; the rest of a follow-up is new
MIN_RETAINED = 0.55  # of the shingles of the longer one of the two
# Passages in which the two differ; texts that differ in more are made from one template:
MAX_PASSAGES = 5  # a reprint has up to five changed words
WORDS_PER_PASSAGE = 40  # in long texts
MIN_WORDS_PER_PASSAGE = 20  # in short ones
# A page and the one of which it declares itself to be a version:
MIN_CONTAINED = 0.5  # of the shingles of the shorter text: menus and captions are in one of the texts only
MIN_CONTAINED_NUMBERS = 0.8

# Scripts without spaces, whose characters count as words: Thai, Lao, Burmese, Khmer, Chinese and Japanese.
_UNSPACED = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_DIGIT = re.compile(r"\d")


def words(text: str) -> list[str]:
    """Return the words of *text* without case, punctuation and layout; in scripts without spaces, the characters.

    >>> words("The “Café”, 2nd ed.\\n北京")
    ['the', 'café', '2nd', 'ed', '北', '京']
    """
    return _WORD.findall(unicodedata.normalize("NFKC", text.replace("\xad", "")).casefold())  # no soft hyphens


def nearly_same(old: list[str], new: list[str]) -> bool:
    """Return whether the *new* one of two texts of these words is a reprint of the *old* one, perhaps cut or edited.

    At least `MIN_REPEATED` of the shingles of the new text must be in the old one: a text with more news is none. And
    they must be at least `MIN_RETAINED` of those of the longer text. They may differ in few passages, see
    `MAX_PASSAGES`. Of the numbers, at most half as many may be replaced by others as are in both texts: a weather
    report that differs from yesterday's only in its numbers is a new report. Numbers in passages that were only added,
    or only removed, such as a date line, count as neither.

    >>> old = "the mayor opened a new bridge over the river on a cold monday morning before 300 guests".split()
    >>> nearly_same(old, ["nov", "23", "2026", *old]), nearly_same(old, [*old[:-2], "400", "guests"])
    (True, False)
    """
    ours, theirs = _shingles(old), _shingles(new)
    shared = ours & theirs
    if len(shared) < MIN_REPEATED * len(theirs) or len(shared) < MIN_RETAINED * len(ours):
        return False
    kept, gone, passages = _differences(old, shared)
    _, added, further = _differences(new, shared)
    if max(passages, further) > _most_passages(min(len(old), len(new))):
        return False
    return 2 * min(len(gone - added), len(added - gone)) <= len(kept) + 1


def is_version(one: list[str], other: list[str]) -> bool:
    """Return whether the shorter text may be an excerpt of the longer one, as a mobile page is of the complete page."""
    return (
        _containment(_numbers(one), _numbers(other), spare=1) >= MIN_CONTAINED_NUMBERS
        and _containment(_shingles(one), _shingles(other)) >= MIN_CONTAINED
    )


def _containment(one: set[str], other: set[str], spare: int = 0) -> float:
    """Return the share of the smaller set that is in the larger one, with *spare* additional common elements."""
    return (len(one & other) + spare) / max(min(len(one), len(other)) + spare, 1)


def _shingles(words: list[str]) -> set[str]:
    return set(_shingles_in_order(words))


def _shingles_in_order(words: list[str]) -> list[str]:
    if len(words) < COMPARED_WORDS:
        return [" ".join(words)]
    return list(map(" ".join, zip(*(words[start:] for start in range(COMPARED_WORDS)), strict=False)))


def _numbers(words: Iterable[str]) -> set[str]:
    return {word for word in words if _DIGIT.search(word)}


def _most_passages(count: int) -> int:
    """Return in how many passages a reprint of *count* words may differ."""
    return max(1, min(MAX_PASSAGES, count // MIN_WORDS_PER_PASSAGE), count // WORDS_PER_PASSAGE)


def _differences(words: list[str], shared: set[str]) -> tuple[set[str], set[str], int]:
    """Return the numbers in *shared* shingles, those in the passages between, and how many passages there are."""
    kept: list[str] = []
    between: list[str] = []
    passages = end = 0  # the end of the last shared shingle
    for start, shingle in enumerate(_shingles_in_order(words)):
        if shingle in shared:
            passages += start > end
            between += words[end:start]
            kept += words[max(start, end) : start + COMPARED_WORDS]
            end = start + COMPARED_WORDS
    return _numbers(kept), _numbers([*between, *words[end:]]), passages + (end < len(words))


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
