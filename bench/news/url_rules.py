"""Measures how well it is learnt from labels which URLs are articles, and how fast URLs are tested by rules.

    python -m bench.news.url_rules [--seeds 5] [--urls 200000] [--domains 5000]

Hosts are made up: each has one form of the URLs of its articles, and a dozen kinds of other pages, those that any site
has and those that look most like its articles. What is learnt from labels, some of which are wrong, is held against
URLs that were not among them.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from crawlers.missions.news.article.article_evidence import SURE
from crawlers.missions.news.plan.news_scores import FIT
from crawlers.missions.news.urls.rule_learner import RuleLearner, UrlRule
from crawlers.missions.news.urls.url_classifier import LEARNT_RULES, RuleSet, UrlClassifier
from crawlers.store.writing.change_set import ChangeSet

if TYPE_CHECKING:
    from collections.abc import Iterable

WORDS = (
    "the", "king", "mayor", "storm", "city", "plan", "water", "budget", "school", "train", "north", "vote", "wins",
    "after", "court", "old", "new", "team", "bridge", "park", "police", "fire", "law", "energy", "price", "health",
    "fans", "cup", "night", "star", "market", "bank", "strike", "river", "island", "factory", "summer", "heat", "road",
)  # fmt: skip
LETTERS = "абвгдежзиклмнопрстуфхцчшэюя"
SECTIONS = ("politics", "economy", "sport", "culture", "science", "world", "local", "middle-east", "real-estate")
SUBSECTIONS = ("football", "tennis", "europe", "asia", "books", "film", "stocks", "weather")
STATIC = ("about", "contact", "privacy-policy", "terms-of-use", "jobs", "imprint", "advertise", "newsletter", "help")

# The home page, sections, tags, authors, search, pagination, static pages, feeds, login, media: as any site has them.
COMMON = (
    "/", "/{section}/", "/tag/{two}/", "/tag/{word}/", "/author/{two}/", "/search?q={word}&page={page}",
    "/{section}/page/{page}/", "/{section}?page={page}", "/{static}", "/{section}/feed/", "/login?next={word}",
    "/media/{y}/{m}/{slug}.jpg",
)  # fmt: skip

# Articles, and the pages of the same host that look like them: calendars, print, comments, galleries, and others.
SCHEMAS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "date and slug": (
        ("/{y}/{m}/{d}/{slug}/",),
        ("/{y}/{m}/{d}/", "/{y}/{m}/", "/{y}/{m}/{d}/{slug}/print/", "/{y}/{m}/{d}/{slug}/comments/",
         "/gallery/{slug}/"),
    ),
    "date and number": (
        ("/{y}/{m}/{d}/{id3}/",),
        ("/{y}/{m}/{d}/", "/{y}/{m}/{d}/page/{page}/", "/{y}/{m}/{d}/{id3}/print.html", "/{y}/{m}/", "/photo/{id}/"),
    ),
    "day and slug": (
        ("/news/{y}-{m}-{d}/{slug}",),
        ("/news/{y}-{m}-{d}", "/news/{y}-{m}", "/photos/{y}-{m}-{d}/{slug}",
         "/news/{y}-{m}-{d}/{slug}/print", "/news/{word}"),
    ),
    "month, slug.html": (
        ("/{y}/{m}/{slug}.html",),
        ("/{y}_{m}_01_archive.html", "/search/label/{word}", "/p/{slug}.html", "/{y}/{m}/{slug}.html?showComment={id}",
         "/{y}/{m}/"),
    ),
    "section, slug-id.html": (
        ("/{section}/{slug}-{id}.html",),
        ("/{section}/index.html", "/{section}/archive-{y}-{m}.html", "/print/{slug}-{id}.html",
         "/photos/{slug}-{id}.html",
         "/{section}/{slug}-{id}-comments.html"),
    ),
    "section, slug": (
        ("/{section}/{slug}",),
        ("/{section}/{sub}", "/topic/{slug}", "/gallery/{slug}", "/{section}/{slug}?print=1", "/archive/{y}/{m}/{d}"),
    ),
    "sections at two depths": (
        ("/{section}/{slug}-{id}", "/{section}/{sub}/{slug}-{id}"),
        ("/{section}/{sub}", "/video/{slug}-{id}", "/{section}/{slug}-{id}/comments",
         "/archive/{y}/{m}/{d}", "/topics/{slug}"),
    ),
    "number": (
        ("/news/{id}/",),
        ("/news/", "/news/page/{page}/", "/news/{y}/{m}/{d}/", "/photo/{id}/", "/news/{id}/print/",
         "/news/{id}/comments/"),
    ),
    "number.html in a shared directory": (
        ("/news/{id}.html",),
        ("/news/{word}.html", "/news/{ymd}.html", "/news/page{page}.html", "/news/print{id}.html", "/photo/{id}.html"),
    ),
    "slug in a shared directory": (
        ("/news/{slug}",),
        ("/news/{word}", "/news/page-{page}", "/news/{y}-{m}", "/news/{slug}/print",
         "/news/{slug}/comments", "/gallery/{slug}"),
    ),
    "slug at the root": (
        ("/{slug}/",),
        ("/{word}/", "/{y}/{m}/", "/category/{two}/", "/gallery/{slug}/", "/{slug}/comment-page-{page}/",
         "/page/{page}/"),
    ),
    "percent-escaped slug": (
        ("/{section}/{cyr}/",),
        ("/{section}/{cyrword}/", "/tag/{cyr}/", "/photo/{cyr}/", "/{section}/{cyr}/print/", "/{section}/{y}/{m}/{d}/"),
    ),
    "random id": (
        ("/article/{hash}",),
        ("/profile/{hash}", "/article/{hash}/comments", "/gallery/{hash}", "/article/{hash}?print=true",
         "/date/{y}-{m}-{d}"),
    ),
    "language, number, slug": (
        ("/en/{section}/{id}/{slug}", "/ru/{section}/{id}/{slug}"),
        ("/en/{section}/{page}", "/en/photo/{id}/{slug}", "/ru/{section}/{sub}/{page}",
         "/en/{section}/{id}/{slug}/print",
         "/en/archive/{y}/{m}"),
    ),
    "story.php?id=": (
        ("/story.php?id={id}",),
        ("/list.php?page={page}", "/story.php?id={id}&print=1", "/section.php?id={page}", "/comments.php?id={id}",
         "/gallery.php?id={id}", "/calendar.php?y={y}&m={m}"),
    ),
    "index.php?view=": (
        ("/index.php?view=article&id={id}&lang=en",),
        ("/index.php?view=section&id={page}&lang=en", "/index.php?view=gallery&id={id}&lang=en",
         "/index.php?view=article&id={id}&lang=en&print=1", "/index.php?view=calendar&date={ymd}&lang=en"),
    ),
}  # fmt: skip

# Written when the learner was finished, to see what it makes of hosts that it was not made with.
UNSEEN: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "section, day, number.shtml": (
        ("/{section}/{y}-{m}/{d}/{id}.shtml",),
        ("/{section}/{y}-{m}/{d}/index.shtml", "/{section}/{y}-{m}/", "/{section}/{y}-{m}/{d}/{id}_{page}.shtml",
         "/photos/{y}-{m}/{d}/{id}.shtml", "/{section}/{y}-{m}/{d}/comments_{id}.shtml"),
    ),
    "story, section, date, slug, number": (
        ("/story/{section}/{y}/{m}/{d}/{slug}/{id}/",),
        ("/story/{section}/", "/story/{section}/{y}/{m}/{d}/", "/media/{section}/{y}/{m}/{d}/{slug}/{id}/",
         "/story/{section}/{y}/{m}/{d}/{slug}/{id}/print/", "/story/{section}/{page}/"),
    ),
    "slug-id at the root": (
        ("/{slug}-{id}/", "/{slug}-{id}"),
        ("/{word}-{page}/", "/{two}/", "/{slug}/", "/gallery/{slug}-{id}/", "/{y}-{m}-{d}/"),
    ),
    "article and id in one word": (
        ("/{section}/article{id}/{slug}.html",),
        ("/{section}/gallery{id}/{slug}.html", "/{section}/video{id}/{slug}.html",
         "/{section}/article{id}/comments.html",
         "/{section}/archive{y}.html", "/authors/author{id}/{two}.html"),
    ),
    "?p=": (
        ("/?p={id}", "/index.php?p={id}"),
        ("/?cat={page}", "/?m={y}{m}", "/?author={page}", "/?p={id}&replytocom={id}", "/?paged={page}", "/?s={word}",
         "/?attachment_id={id}"),
    ),
    "article and UUID in one word": (
        ("/{section}/article_{uuid}.html",),
        ("/{section}/collection_{uuid}.html", "/{section}/video_{uuid}.html", "/{section}/article_{uuid}/comments.html",
         "/users/profile_{uuid}/", "/{section}/image_{uuid}.html"),
    ),
}  # fmt: skip

_NAME = re.compile(r"\{(\w+)\}")


def filled(template: str, rng: random.Random) -> str:
    """A URL's path and query of the form *template*."""
    y, m, d = rng.randint(2005, 2026), rng.randint(1, 12), rng.randint(1, 28)

    def title(words: list[str]) -> str:
        count = 2 if rng.random() < 0.05 else rng.randint(3, 9)
        return "-".join(rng.choice(words) for _ in range(count))

    def foreign() -> str:
        return quote("".join(rng.choice(LETTERS) for _ in range(rng.randint(3, 9))))

    makers = {
        "section": lambda: rng.choice(SECTIONS),
        "sub": lambda: rng.choice(SUBSECTIONS),
        "static": lambda: rng.choice(STATIC),
        "word": lambda: rng.choice(WORDS),
        "two": lambda: f"{rng.choice(WORDS)}-{rng.choice(WORDS)}",
        "slug": lambda: title(WORDS),
        "cyr": lambda: title([foreign() for _ in range(9)]),
        "cyrword": foreign,
        "id": lambda: str(int(10 ** rng.uniform(4, 7.5))),
        "uuid": lambda: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
        "id3": lambda: f"{rng.randint(1, 300):03}",
        "hash": lambda: f"{rng.choice('bcdxyz')}{rng.getrandbits(36):09x}{rng.randint(0, 9)}",
        "page": lambda: str(int(10 ** rng.uniform(0.3, 2.3))),
        "y": lambda: str(y),
        "m": lambda: f"{m:02}",
        "d": lambda: f"{d:02}",
        "ymd": lambda: f"{y}{m:02}{d:02}",
    }
    return _NAME.sub(lambda match: makers[match[1]](), template)


def drawn(templates: tuple[str, ...], count: int, rng: random.Random) -> list[str]:
    """So many URLs, of each form as likely as of any other; the same one may come twice."""
    return [filled(rng.choice(templates), rng) for _ in range(count)]


def labelled(schema: str, articles: int, others: int, noise: float, rng: random.Random) -> dict[str, bool]:
    """Labels of a host; the share *noise* of either kind is wrong."""
    forms, siblings = (SCHEMAS | UNSEEN)[schema]
    labels = {}
    for templates, count, is_article in ((siblings + COMMON, others, False), (forms, articles, True)):
        urls = drawn(templates, count, rng)
        wrong = set(rng.sample(range(count), round(noise * count)))
        labels |= {url: is_article is not (place in wrong) for place, url in enumerate(urls)}
    return labels


def learnt(labels: dict[str, bool]) -> list[UrlRule]:
    """The rules of these labels, learnt as a crawl does."""
    learner = RuleLearner()
    for target, is_article in labels.items():
        learner.label(target, is_article)
    return learner.rules(0.0)


def quality(schema: str, labels: dict[str, bool], rng: random.Random) -> tuple[float, float]:
    """Precision and recall for 500 articles and 1,500 other pages, of a crawl that has read those with *labels*."""
    forms, siblings = (SCHEMAS | UNSEEN)[schema]
    classifier, site = UrlClassifier(LEARNT_RULES), "https://paper.example"
    for now, (target, is_article) in enumerate(rng.sample(sorted(labels.items()), len(labels))):
        classifier.label(site, site + target, SURE + 1.0 if is_article else -SURE, ChangeSet(), float(now))

    def matching(templates: tuple[str, ...], count: int) -> list[bool]:
        urls = [url for url in drawn(templates, count, rng) if url not in labels]
        return [classifier.slot(site, site + url).queue == FIT for url in urls]

    articles, others = matching(forms, 500), matching(siblings + COMMON, 1500)
    right, wrong = sum(articles), sum(others)
    return right / (right + wrong) if right + wrong else 0.0, right / len(articles)


def quality_table(schemas: Iterable[str], seeds: int) -> tuple[list[str], list[tuple[float, float]]]:
    """The table of precision and recall by kind of host, and those of each run; no rule at all counts as 0 / 0."""
    sizes = ((10, 30, 0.0), (10, 30, 0.2), (100, 300, 0.0), (100, 300, 0.2))
    heads = [f"{articles}+{others}{', 20 % wrong' if noise else ''}" for articles, others, noise in sizes]
    lines = ["| articles | " + " | ".join(heads) + " |", "|---" + "|--:" * len(sizes) + "|"]
    columns: list[list[tuple[float, float]]] = [[] for _ in sizes]
    for schema in schemas:
        cells = []
        for column, (articles, others, noise) in zip(columns, sizes, strict=True):
            found = []
            for seed in range(seeds):
                rng = random.Random(f"{schema}, {articles}, {noise}, {seed}")
                labels = labelled(schema, articles, others, noise, rng)
                found.append(quality(schema, labels, rng))
            column += found
            cells.append(shown(found))
        lines.append(f"| {schema} | {' | '.join(cells)} |")
    lines.append(f"| **mean** | {' | '.join(map(shown, columns))} |")
    return lines, [one for column in columns for one in column]


def shown(found: list[tuple[float, float]]) -> str:
    """Mean precision and recall."""
    precision, recall = (sum(one[place] for one in found) / len(found) for place in (0, 1))
    return f"{precision:.3f} / {recall:.3f}"


def speed_table(domains: int, count: int) -> list[str]:
    """URLs tested per second by number of domains, and the time to compile their rules; best of five runs.

    Hosts of one kind have learnt the same rules, which are compiled once. In the last line no two domains share a rule.
    """
    lines = [
        "| domains | rules | different | URLs/s | µs to compile a domain | fit |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    for number in sorted({1, 100, domains}):
        rng = random.Random(number)
        schemas = rng.choices(list(SCHEMAS), k=number)
        rules = [learnt(labelled(schema, 50, 150, 0.1, rng)) for schema in schemas]
        urls = [found_url(schemas, rng) for _ in range(count)]
        lines.append(speed_row(rules, urls))
    own = [[replace(rule, regex=f"/of-{place}|{rule.regex}") for rule in its] for place, its in enumerate(rules)]
    return [*lines, speed_row(own, urls)]


def speed_row(rules: list[list[UrlRule]], urls: list[tuple[str, str]]) -> str:
    """A line of the table, for the *rules* of each domain."""
    rule_set = RuleSet()
    for place, its in enumerate(rules):
        rule_set.replace(f"paper{place}.example", its)
    homes = [(site, f"{site}/") for site in (f"https://www.paper{place}.example" for place in range(len(rules)))]
    compiling = seconds(rule_set, homes) / len(rules)
    fit = sum(rule_set.weight(site, url) > 0 for site, url in urls) / len(urls)
    per_s = len(urls) / min(seconds(rule_set, urls) for _ in range(5))
    number, different = sum(map(len, rules)), len({rule.regex for its in rules for rule in its})
    cells = (f"{len(rules):,}", f"{number:,}", f"{different:,}", f"{per_s:,.0f}", f"{1e6 * compiling:.0f}")
    return f"| {' | '.join(cells)} | {fit:.0%} |"


def found_url(schemas: list[str], rng: random.Random) -> tuple[str, str]:
    """A site, drawn by lot for each URL (the caches of the processor help least), and a URL; a tenth are articles."""
    place = rng.randrange(len(schemas))
    site = f"https://www.paper{place}.example"
    forms, siblings = SCHEMAS[schemas[place]]
    return site, site + filled(rng.choice(forms if rng.random() < 0.1 else siblings + COMMON), rng)


def seconds(rule_set: RuleSet, urls: list[tuple[str, str]]) -> float:
    """How long it takes to test *urls*: the time of this thread, for the machine may have other work."""
    weight = rule_set.weight
    start = time.thread_time()
    for site, url in urls:
        weight(site, url)
    return time.thread_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--urls", type=int, default=200_000)
    parser.add_argument("--domains", type=int, default=5_000)
    arguments = parser.parse_args()
    figures = {}
    for name, schemas in (("made_with", SCHEMAS), ("unseen", UNSEEN)):
        lines, found = quality_table(schemas, arguments.seeds)
        print("\n".join([f"precision / recall, hosts: {name}", *lines]), end="\n\n", flush=True)
        figures[name] = [round(sum(one[place] for one in found) / len(found), 3) for place in (0, 1)]
    print("\n".join(["URLs tested", *speed_table(arguments.domains, arguments.urls)]))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
