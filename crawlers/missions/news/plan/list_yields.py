"""How many new articles the lists of a site show: sections, tags, archives. Learnt while they are read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from crawlers.missions.news.urls.url_prior import GROUP_OF
from crawlers.missions.news.urls.url_tokens import kind_of

GOOD = 2.0  # expected new articles from which a list is read before pages of which nothing is known
STILL_GOOD = 1.0  # from which it stays so: all waiting pages of the domain take other places when that changes
MAX_FORMS = 500  # of a domain
MOST = 20.0  # new articles of one page that count
MEMORY = 0.8  # what an earlier page of the same form weighs, relative to the next one: lists run dry
PRIOR_PAGES = 1.0  # pages that those of all domains count as, for a domain
FIRST_YIELD = 1.0  # of forms that were never read, as `PRIOR_PAGES` pages
_MAX_SEGMENTS, _MAX_WORD, _MAX_CHARS = 8, 24, 500
_CACHED = 10_000


class _Form(NamedTuple):
    """The form of a URL on its site, and on any site."""

    own: tuple[str, ...]
    general: tuple[str, ...]


@dataclass(slots=True)
class _Yield:
    """The new articles of the pages of a form, and their number; earlier ones count less."""

    articles: float = 0.0
    pages: float = 0.0
    is_good: bool = False

    def add(self, articles: float) -> None:
        self.articles = MEMORY * self.articles + articles
        self.pages = MEMORY * self.pages + 1.0

    def mean(self, prior: float) -> float:
        return (self.articles + PRIOR_PAGES * prior) / (self.pages + PRIOR_PAGES)


_NOTHING = _Yield()


class ListYields:
    """The expected number of new articles on unread pages, by the form of their URL, for each domain.

    The form is what pages of one kind share: their directories, the kind of the last segment, the names of parameters.
    Forms that a domain has not shown yet are estimated from those of all domains, in which words are replaced by what
    they mean (`tag`, `author`).
    """

    def __init__(self) -> None:
        self._of_domain: dict[str, dict[tuple[str, ...], _Yield]] = {}
        self._of_all: dict[tuple[str, ...], _Yield] = {}

    def expected(self, domain: str, target: str) -> float:
        """Return the expected number of new articles on the page at *target*, a path and query of *domain*."""
        form = _form(target[:_MAX_CHARS].lower())
        general = self._of_all.get(form.general, _NOTHING).mean(FIRST_YIELD)
        return self._of_domain.get(domain, {}).get(form.own, _NOTHING).mean(general)

    def is_good(self, domain: str, target: str) -> bool:
        """Return whether the page at *target* is to be read before pages of which nothing is known."""
        own = self._of_domain.get(domain, {}).get(_form(target[:_MAX_CHARS].lower()).own)
        return own.is_good if own is not None else self.expected(domain, target) >= GOOD

    def read(self, domain: str, target: str, articles: int, *, of_all: bool = True) -> bool:
        """Record how many new *articles* a page shows; return whether its form became good, or no longer is.

        Only what is known of *domain* changes if the page has counted for all domains before (not *of_all*).
        """
        form = _form(target[:_MAX_CHARS].lower())
        was_good = self.is_good(domain, target)
        places = [(self._of_domain.setdefault(domain, {}), form.own)]
        if of_all:
            places.append((self._of_all, form.general))
        for forms, own in places:
            if own in forms or len(forms) < MAX_FORMS:
                forms.setdefault(own, _Yield()).add(min(MOST, articles))
        known = self._of_domain[domain].get(form.own)
        if known is not None:
            known.is_good = self.expected(domain, target) >= (STILL_GOOD if was_good else GOOD)
        return was_good != self.is_good(domain, target)

    def forget(self, domain: str) -> None:
        """Forget the forms of *domain*."""
        self._of_domain.pop(domain, None)


@lru_cache(maxsize=_CACHED)
def _form(target: str) -> _Form:
    path, _, query = target.partition("?")
    segments = [segment for segment in path.split("/") if segment][:_MAX_SEGMENTS]
    names = sorted(parameter.partition("=")[0][:_MAX_WORD] for parameter in query.split("&") if parameter)
    own, general = [], []
    for place, segment in enumerate(segments):
        stem = segment.partition(".")[0]
        kind, is_last = kind_of(stem[:100]), place == len(segments) - 1
        is_word = kind == "word" and len(stem) <= _MAX_WORD
        own.append(f"={stem}" if is_word and not is_last else kind)
        general.append(GROUP_OF.get(stem, kind))
    return _Form((*own, "?", *names), (*general, "?", *(GROUP_OF.get(name, name) for name in names)))
