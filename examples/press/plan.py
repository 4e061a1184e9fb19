"""The properties of the sites of a press, as a function of its seed and their number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from examples.press.schemas import FAMILIES
from examples.press.texts import person
from examples.webs.prose import rng_of

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from examples.press.schemas import Schema

_T = TypeVar("_T")
Markup = Literal["json-ld", "og", "time", "nothing"]  # the markup of an article and its date
FeedKind = Literal["rss", "atom", "json"]
Flaw = Literal["", "ampersand", "cut", "dates"]  # the flaw of a feed

_SECTIONS = ("politics", "economy", "sport", "culture", "science", "society", "world")
_FEED_PATHS = {"rss": "/rss.xml", "atom": "/atom.xml", "json": "/feeds/all.json"}
_FLAWS: Sequence[Flaw] = ("", "", "ampersand", "cut", "dates")


@dataclass(frozen=True, slots=True)
class Feed:
    """The feed of a site."""

    kind: FeedKind
    path: str
    flaw: Flaw
    is_linked: bool  # from the head of pages; otherwise it is only at a usual path
    campaign: str  # query of the links of its items


@dataclass(frozen=True, slots=True)
class Plan:
    """A site of the press."""

    number: int
    origin: str  # scheme://host[:port]
    title: str
    schema: Schema
    markup: Markup
    sections: tuple[str, ...]
    authors: tuple[str, ...]
    per_day: float  # articles
    first_id: int
    id_step: int
    zone_h: int  # hours that its clock is ahead of UTC
    layout: int  # index of the layout of pages
    feed: Feed | None
    sitemap: str  # path of a news sitemap; "" = none
    robots_name_sitemap: bool
    campaign: str  # query of the links to the most read articles; "" = none
    has_second: bool  # articles have a second address, with the first one as canonical URL
    prints_name_canonical: bool
    links_are_absolute: bool

    @property
    def is_russian(self) -> bool:
        return self.schema.is_russian


def _dealt(rng: random.Random, options: Sequence[_T], count: int) -> list[_T]:
    """Return *count* of the *options*, equally often, in random order."""
    hand = [options[at % len(options)] for at in range(count)]
    rng.shuffle(hand)
    return hand


def _feed(nth: int) -> Feed:
    """Return the *nth* feed of a press: all combinations of kinds, paths, flaws and campaigns in turn."""
    kind: FeedKind = get_args(FeedKind)[nth % 3]
    flaw = _FLAWS[nth % len(_FLAWS)]
    if kind == "json" and flaw:
        flaw = "dates"  # broken JSON is not readable at all
    is_linked = kind == "json" or nth // 3 % 2 == 0  # JSON feeds are not discovered at usual paths
    return Feed(kind, _FEED_PATHS[kind], flaw, is_linked, "utm_source=feed" if nth % 4 == 1 else "")


def plans(seed: int, origins: Sequence[str], per_day: float, family: str = "press") -> list[Plan]:
    """Return a site for each of *origins*; a site publishes at least half of *per_day* articles, the mean of all.

    The sites have the URL schemas of a *family* of `FAMILIES` in turn.
    """
    schemas = FAMILIES[family]
    rng, count = rng_of(f"press {seed}"), len(origins)
    markups: list[Markup] = _dealt(rng, get_args(Markup), count)
    rates = _dealt(rng, (0.5, 0.7, 1.0, 1.2, 1.6), count)
    has_feed = _dealt(rng, (True, False), count)
    found = []
    for number, origin in enumerate(origins):
        own = rng_of(f"press {seed} site {number}")
        found.append(
            Plan(
                number=number,
                origin=origin,
                title=f"The {own.choice(('Evening', 'Morning', 'Daily', 'Free', 'New'))} {person(own).split()[1]}",
                schema=schemas[number % len(schemas)],
                markup=markups[number],
                sections=tuple(own.sample(_SECTIONS, own.randint(3, 6))),
                authors=tuple(person(own) for _ in range(own.randint(4, 9))),
                per_day=per_day * rates[number],
                first_id=own.randrange(10_000, 900_000),
                id_step=own.randint(1, 7),
                zone_h=own.choice((0, 1, 3, -5)),
                layout=own.randrange(4),
                feed=_feed(sum(has_feed[:number])) if has_feed[number] else None,
                sitemap={1: "/sitemaps/news.xml", 5: "/news-sitemap.xml"}.get(number % 8, ""),
                robots_name_sitemap=number % 8 == 1,
                campaign=own.choice(("utm_source=main&utm_medium=widget", "utm_campaign=mostread", "")),
                has_second=own.random() < 0.5,
                prints_name_canonical=own.random() < 0.5,
                links_are_absolute=own.random() < 0.3,
            )
        )
    return found
