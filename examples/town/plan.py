"""The pages and links of the town: a scale-free graph with subjects.

Pages are added one after the other; the more links lead to a page, the more likely it gets another one. So a
few pages of the encyclopedia and of the portal, which come first, have a large part of all links.

References
----------
.. [1] Barabási, Albert (1999), Emergence of Scaling in Random Networks, Science 286.
.. [2] Menczer (2002), Growing and navigating the small world Web by local content, PNAS 99: links prefer their subject.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from examples.town.subjects import SUBJECTS
from examples.webs.prose import rng_of

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

ENGLISH = tuple(subject for subject, lang in SUBJECTS if lang == "en")
CHILDREN = 3  # of a page, within its site, so that every page can be reached from the home page
OWN_SUBJECT_P = 0.7  # probability that a link leads to a page of the same subject
LATE_LINKS = 2  # added at the end: old pages link to new ones, too


class Site(NamedTuple):
    """A site: its *name* for readers, its subjects, its size, and its validator."""

    name: str
    lang: str
    subjects: tuple[str, ...]
    pages: int  # at scale 1
    links: int  # of a page, on average, other than those to children and those of the frame
    validator: str  # "etag", "date" (Last-Modified) or ""


OLDEST = ("portal", "encyclopedia")  # added before all others
# News has only a home page here; its stories come and go, see `changes`.
SITES: Mapping[str, Site] = {
    "portal": Site("The portal", "en", ENGLISH, 9, 24, "date"),
    "encyclopedia": Site("The encyclopedia", "en", ENGLISH, 41, 5, "etag"),
    "news": Site("The news", "en", ENGLISH, 1, 8, "etag"),
    "encodings": Site("Text encodings", "en", ("encodings",), 21, 5, "etag"),
    "databases": Site("The database notebook", "en", ("databases",), 21, 5, "date"),
    "gardening": Site("The garden", "en", ("gardening",), 21, 5, "date"),
    "astronomy": Site("The night sky", "en", ("astronomy",), 21, 5, "etag"),
    "diary": Site("A diary", "en", ENGLISH, 17, 5, ""),
    "signals": Site("Буквы и поезда", "ru", ("encodings", "railways"), 17, 5, "date"),
    "courtyard": Site("庭院与文字", "zh", ("gardening", "encodings"), 17, 5, "etag"),
}


class Page(NamedTuple):
    """A page that always exists. Home pages have the first subject of their site."""

    site: str
    path: str  # as requested: percent-encoded
    title: str
    subject: str

    @property
    def lang(self) -> str:
        """Return the language of the page: en, ru or zh."""
        return SITES[self.site].lang


@dataclass(frozen=True)
class Plan:
    """The pages of the town, and the numbers of the link targets of each."""

    pages: tuple[Page, ...]
    links: tuple[tuple[int, ...], ...]
    numbers: Mapping[tuple[str, str], int] = field(repr=False)  # by site and path

    def about(self, subject: str) -> list[int]:
        """Return the numbers of the pages about *subject*, in all languages."""
        return [number for number, page in enumerate(self.pages) if page.subject == subject]


@lru_cache(4)
def plan(scale: int) -> Plan:
    """Return the town, which has some 190 pages times *scale* and is always the same."""
    rng = rng_of(f"town {scale}")
    pages: list[Page] = []
    children: dict[int, list[int]] = defaultdict(list)
    for site in SITES:
        first, own = len(pages), _pages(site, scale)
        pages += own
        for number in range(1, len(own)):
            children[first + (number - 1) // CHILDREN].append(first + number)
    pools = _Pools(rng)
    links: list[dict[int, None]] = [dict.fromkeys(children[number]) for number in range(len(pages))]
    for number in _building_order(pages):
        pools.add(number, pages[number].subject)
        for _ in range(1 + int(rng.expovariate(1 / SITES[pages[number].site].links))):
            pools.link(links, number, pages)
    for number in range(len(pages)):
        for _ in range(LATE_LINKS):
            pools.link(links, number, pages)
    numbers = {(page.site, page.path): number for number, page in enumerate(pages)}
    return Plan(tuple(pages), tuple(map(tuple, links)), numbers)


class _Pools:
    """Weighted link targets: each page is in its pools once, and once more for each link to it."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._all: list[int] = []
        self._of_subject: dict[str, list[int]] = defaultdict(list)

    def add(self, number: int, subject: str) -> None:
        self._all.append(number)
        self._of_subject[subject].append(number)

    def link(self, links: list[dict[int, None]], source: int, pages: list[Page]) -> None:
        is_own = self._rng.random() < OWN_SUBJECT_P
        target = self._rng.choice(self._of_subject[pages[source].subject] if is_own else self._all)
        if target != source and target not in links[source]:
            links[source][target] = None
            self.add(target, pages[target].subject)


def _pages(site: str, scale: int) -> list[Page]:
    name, lang, subjects, count, _, _ = SITES[site]
    found = [Page(site, "/", name, subjects[0])]
    for number in range((count - 1) * scale):
        subject = subjects[number % len(subjects)]
        terms = SUBJECTS[subject, lang].terms
        turn, which = divmod(number // len(subjects), len(terms))
        title = terms[which][0].upper() + terms[which][1:] + (f", {turn + 1}" if turn else "")
        found.append(Page(site, f"/{quote(title.replace(', ', '-').replace(' ', '-'))}.html", title, subject))
    return found


def _building_order(pages: list[Page]) -> list[int]:
    """Return the oldest sites as a whole, then the pages of the others in turn, so that none of these is older."""
    turns: dict[str, int] = defaultdict(int)
    order = []
    for number, page in enumerate(pages):
        turns[page.site] += page.site not in OLDEST
        order.append((turns[page.site], number))
    return [number for _, number in sorted(order)]
