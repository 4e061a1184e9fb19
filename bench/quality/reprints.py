"""A generated press for `bench.quality.duplicates`: articles, copies of them, and articles that merely look like
copies."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from crawlers.items import Article

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

VOCABULARY = 20_000
TOPIC_WORDS = 60  # that an article uses more than others do
COPIED_SHARE = 0.18  # of the articles, by 1 to 4 pages
_LETTERS = "aeiouybcdfghklmnprstvz"


class Shown(NamedTuple):
    """A page, and which of the press's articles it shows."""

    kind: str
    url: str
    article: Article
    written: int


class GeneratedPress:
    """So many *domains*, whose articles use words as often as people do (Zipf), each with a topic of its own.

    An article is shown before its copies are: of two reprints with five edits each neither need be near to the other.
    """

    def __init__(self, domains: int, rng: random.Random) -> None:
        self._rng = rng
        self._domains = [f"generated-daily-{number}.com" for number in range(domains)]
        words = set[str]()
        while len(words) < VOCABULARY:
            words.add("".join(rng.choices(_LETTERS, k=rng.choice((2, 3, 4, 5, 6, 7, 8, 9, 10)))))
        self._words = sorted(words, key=lambda word: (len(word) + 4 * rng.random(), word))  # frequent ones are short
        self._weights = list(accumulate(1 / (rank + 2) for rank in range(VOCABULARY)))
        self._weather = {domain: self._text(150) for domain in self._domains}
        self._rates = {domain: self._text(150) for domain in self._domains}
        self._number = 0

    def pages(self, count: int) -> Iterator[Shown]:
        """So many pages, copies some hundred pages behind what they are copies of."""
        waiting: list[Shown] = []
        for _ in range(count):
            if waiting and self._rng.random() < len(waiting) / 2_000:
                last = len(waiting) - 1
                place = self._rng.randrange(len(waiting))
                waiting[place], waiting[last] = waiting[last], waiting[place]
                yield waiting.pop()
                continue
            page = self._new()
            yield page
            if self._rng.random() < COPIED_SHARE:
                kinds = self._rng.sample(list(_COPIES), self._rng.randrange(1, 5))
                waiting += [_COPIES[kind](self, kind, page) for kind in kinds]

    def _new(self) -> Shown:
        self._number += 1
        domain = self._rng.choice(self._domains)
        kind = self._rng.choices(*zip(*_NEW.items(), strict=True))[0]  # type: ignore[arg-type]
        title = " ".join(self._text(7))
        canonical = ""
        if kind == "weather":
            text, title = self._with_figures(self._weather[domain], 7), "the weather"
        elif kind == "rates":
            text, title = self._with_figures(self._rates[domain], 20), "the rates"
        elif kind == "notice":
            text = self._rates[domain][:12]
        elif kind == "second part":
            text = [*self._weather[domain][:75], *self._text(110)]
        else:
            text = self._text(self._rng.choice((150, 180, 220, 300, 400, 600, 900)))
            canonical = f"https://www.{domain}/news/1" if kind == "wrong canonical URL" else ""
        url = f"https://www.{domain}/news/{self._number}?page={self._number % 3}"
        return Shown(kind, url, _article(title, text, canonical), self._number)

    def _text(self, count: int) -> list[str]:
        rng = self._rng
        topic = rng.choices(self._words, k=TOPIC_WORDS)
        words = rng.choices(self._words, cum_weights=self._weights, k=count)
        for place in range(4, count, 6):
            words[place] = rng.choice(topic)
        for place in range(19, count, 40):
            words[place] = str(rng.choice((rng.randrange(100), rng.randrange(1900, 2030))))
        return words

    def _with_figures(self, template: list[str], every: int) -> list[str]:
        rng = self._rng
        return [
            f"{rng.randrange(-30, 90)}.{rng.randrange(100)}" if n % every == 3 else w for n, w in enumerate(template)
        ]

    def campaign(self, kind: str, page: Shown) -> Shown:
        mark = self._rng.choice(("utm_source=rss&utm_medium=x", "fbclid=Iw1", "from=rss", "yclid=7", "at_medium=mail"))
        return page._replace(kind=kind, url=page.url.replace("?", f"?{mark}&"))

    def unencrypted(self, kind: str, page: Shown) -> Shown:
        return page._replace(kind=kind, url=page.url.replace("https://www.", "http://") + "#comments")

    def printed(self, kind: str, page: Shown) -> Shown:
        """The same text in another layout; without the picture of the title, where the text is long."""
        own = page.article
        article = _article(own.title, own.text.upper().replace("\n", " – ").split(), "")
        return page._replace(kind=kind, url=page.url.replace("/news/", "/print/"), article=article)

    def shortened(self, kind: str, page: Shown) -> Shown:
        """A mobile page: two thirds of the text, and it says of what."""
        words = page.article.text.split()
        article = _article(page.article.title, words[: len(words) * 2 // 3], page.url)
        return page._replace(kind=kind, url=page.url.replace("//www.", "//m."), article=article)

    def reprinted(self, kind: str, page: Shown) -> Shown:
        """Two to five words changed, added or left out, of 150 or more."""
        words, rng = page.article.text.split(), self._rng
        if len(words) < 150:
            return self.printed("print version", page)
        for _ in range(rng.randrange(2, 6)):
            place = rng.randrange(len(words))
            words[place : place + rng.randrange(2)] = rng.choices(self._words, k=rng.randrange(2))
        article = _article(" ".join(self._text(7)), words, "")
        return page._replace(kind=kind, url=page.url.replace("/news/", "/again/"), article=article)


_NEW = {
    "article": 60,
    "weather": 8,  # one text but for 22 figures of 150 words
    "rates": 8,  # but for 8
    "notice": 8,  # 12 words, the same for all, under titles of their own
    "second part": 8,  # 75 words of an older text, and 110 new ones
    "wrong canonical URL": 8,
}
_COPIES = {
    "campaign": GeneratedPress.campaign,
    "unencrypted": GeneratedPress.unencrypted,
    "print version": GeneratedPress.printed,
    "mobile version": GeneratedPress.shortened,
    "reprint": GeneratedPress.reprinted,
}


def _article(title: str, words: list[str], canonical: str) -> Article:
    lines = [" ".join(words[start : start + 40]) for start in range(0, len(words), 40)]
    return Article(title, "\n".join(lines), None, "", (), "", "en", canonical, "", "rule")
