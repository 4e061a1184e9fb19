"""The articles that a site has published at a given time, their texts and addresses. Nothing here reads the clock."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote, unquote

from examples.press import texts
from examples.press.schemas import Parts
from examples.webs.prose import rng_of

if TYPE_CHECKING:
    from examples.press.plan import Plan

DAY_S = 86_400
STORY = 12  # consecutive articles about the same towns
PHOTOS = 8
_CYCLE, _ORIGINAL, _REPRINT = 66, 10, 17  # one of 66 articles is reprinted seven articles later
_WEATHER = 12, 5  # every twelfth, from the fifth on
_CORRECTED = 20, 3
_TO_CORRECT_S = 4 * 3600

Group = Literal["section", "author", "tag", "day"]
Kind = Literal["plain", "weather", "corrected", "reprint"]


@dataclass(frozen=True, slots=True)
class Head:
    """An article without its text."""

    number: int  # from 0, oldest first
    kind: Kind
    id: int
    address: str  # path and query
    title: str
    published: datetime  # by the clock of its site
    section: str
    author: str
    tags: tuple[str, ...]
    original: int | None  # of a reprint: the number of the original article
    photos: int  # of its gallery; 0 = none

    @property
    def published_at(self) -> float:
        return self.published.timestamp()


def _kind(number: int) -> Kind:
    if number % _CYCLE == _REPRINT:
        return "reprint"
    if number % _CYCLE == _ORIGINAL:
        return "plain"
    if number % _WEATHER[0] == _WEATHER[1]:
        return "weather"
    return "corrected" if number % _CORRECTED[0] == _CORRECTED[1] else "plain"


class Newsroom:
    """The articles of one site; *opened* is the time of its first one, in seconds since 1970."""

    def __init__(self, seed: int, plan: Plan, opened: float) -> None:
        self.plan = plan
        self._seed = f"press {seed} site {plan.number}"
        self._opened = opened
        self._gap_s = DAY_S / plan.per_day
        self._heads: list[Head] = []  # a cache of the articles requested so far
        self._numbers: dict[str, int] = {}  # by address, unescaped
        self._lists: dict[tuple[str, str], list[int]] = {}  # by group and value

    def listed(self, group: Group, value: str, now: float) -> list[int]:
        """Return the articles of a section, author, tag (both as in addresses) or day by number, oldest first."""
        count = self._known(now)
        numbers = self._lists.get((group, value), [])
        return numbers[: bisect_left(numbers, count)]

    def count(self, now: float) -> int:
        """Return the number of articles published at *now*, which have lower numbers."""
        last = int((now - self._opened) // self._gap_s)
        return 0 if last < 0 else last + (self._published_at(last) <= now)

    def _published_at(self, number: int) -> float:
        part = rng_of(f"{self._seed} time {number}").random()
        return float(int(self._opened + (number + 0.9 * part) * self._gap_s))

    def head(self, number: int) -> Head:
        while len(self._heads) <= number:
            self._remember(len(self._heads))
        return self._heads[number]

    def find(self, address: str, now: float) -> Head | None:
        """Return the article with this address; None if there is none, or not yet."""
        count = self._known(now)
        number = self._numbers.get(unquote(address), count)
        return self._heads[number] if number < count else None

    def _known(self, now: float) -> int:
        """Return the number of published articles, and cache them."""
        count = self.count(now)
        if count:
            self.head(count - 1)
        return count

    def with_id(self, id_: int, now: float) -> Head | None:
        number, rest = divmod(id_ - self.plan.first_id, self.plan.id_step)
        return self.head(number) if rest == 0 and 0 <= number < self.count(now) else None

    def _remember(self, number: int) -> None:
        head = self._made(number)
        self._heads.append(head)
        self._numbers[unquote(head.address)] = number
        groups = [("section", head.section), ("author", texts.slug(head.author)), ("day", f"{head.published:%Y-%m-%d}")]
        for group in groups + [("tag", texts.slug(tag)) for tag in set(head.tags)]:
            self._lists.setdefault(group, []).append(number)

    def _made(self, number: int) -> Head:
        plan, kind = self.plan, _kind(number)
        original = number - (_REPRINT - _ORIGINAL) if kind == "reprint" else None
        rng = rng_of(f"{self._seed} article {number}")
        zone = timezone(timedelta(hours=plan.zone_h))
        published = datetime.fromtimestamp(self._published_at(number), zone)
        tags = tuple(rng.sample(self.names(number), 3))
        if original is not None:
            before = self.head(original)
            title, section, tags = before.title, before.section, before.tags
        else:
            section = rng.choice(plan.sections)
            title = texts.headline(rng, tags, is_russian=plan.is_russian)
            if kind == "weather":
                title = f"Weather in {tags[0]} on {published.day} {published:%B %Y}, report {number % 10}"
        id_ = plan.first_id + number * plan.id_step
        address = self._address(id_, title, section, published)
        if unquote(address) in self._numbers:  # on a site without numbers in addresses
            address = self._address(id_, f"{title} {number}", section, published)
        photos = rng.randint(3, PHOTOS) if rng.random() < 0.4 else 0
        return Head(
            number, kind, id_, address, title, published, section, rng.choice(plan.authors), tags, original, photos
        )

    def _address(self, id_: int, title: str, section: str, published: datetime) -> str:
        digest = blake2b(f"{self._seed} {id_}".encode(), digest_size=5).hexdigest()
        return self.plan.schema.address(Parts(id_, digest, quote(texts.slug(title)), section, published))

    def names(self, number: int) -> list[str]:
        """Return the towns of article *number* and of its story."""
        rng = rng_of(f"{self._seed} story {number // STORY}")
        return [texts.name(rng, is_russian=self.plan.is_russian) for _ in range(6)]

    def text(self, number: int, now: float) -> list[str]:
        """Return the paragraphs of an article at *now*."""
        head = self.head(number)
        if head.original is not None:
            return texts.edited(rng_of(f"{self._seed} edit {number}"), self.text(head.original, now))
        rng = rng_of(f"{self._seed} text {number}")
        if head.kind == "weather":
            return texts.weather(rng, head.tags[0], f"{head.published.day} {head.published:%B}")
        whole = texts.paragraphs(rng, head.tags, is_russian=self.plan.is_russian)
        if head.kind == "corrected" and now >= head.published_at + _TO_CORRECT_S:
            return texts.corrected(rng, whole, is_russian=self.plan.is_russian)
        return whole
