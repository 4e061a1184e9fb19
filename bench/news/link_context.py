"""Whether the words of a link and its place on the page tell more of a URL than the URL alone.

    python -m bench.news.link_context FOLDER [--aside]

FOLDER is that of `bench.news.url_prior`. Here the labels must not depend on the words of links: a URL is an article if
its form (kinds of segments and parameters, extension) is that of a page of FOLDER on its domain, otherwise another
page; forms that consist of plain words, as those of sections, are left out. Known is the first link to a URL, as when
a crawl discovers it. The domains of the training are cross-validated in five parts; --aside adds the others.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from bench.halves import is_set_aside
from bench.news.url_prior import domain_of, fitted, shares, words
from crawlers.algorithms.news.url_features import features_of
from crawlers.algorithms.url_rules.url_tokens import target_of_url, tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from selectolax.lexbor import LexborNode

    Features = Callable[["Link"], Sequence[str]]

PARTS = 5
LEVELS = 12  # of elements around a link
MOST_WORDS = 12
AROUND = frozenset(
    ("nav", "header", "footer", "aside", "main", "article", "section", "ul", "table", "p", "h1", "h2", "h3", "h4")
)
INSIDE = "img,h1,h2,h3,h4,time,p"
_TITLES = frozenset(("pair", "idslug", "slug"))
_WORDS = frozenset(("word", "empty"))


class Link(NamedTuple):
    """A URL, and the first link to it."""

    domain: str
    target: str
    is_article: bool
    is_page: bool
    words: float
    places: tuple[str, ...]


def form(target: str) -> tuple[object, ...] | None:
    tokens = tokens_of(target)
    if tokens is None:
        return None
    kinds = [token.kind for token in tokens.segments]
    if kinds and kinds[-1] in _TITLES:
        kinds[-1] = "title"
    return (tuple(kinds), tokens.shape.extension, tokens.shape.parameters)


def places(node: LexborNode) -> tuple[str, ...]:
    """The elements around the link, and in it."""
    found = [f"has {inner.tag}" for inner in node.css(INSIDE)]
    parent = node.parent
    for _ in range(LEVELS):
        if parent is None or parent.tag == "body":
            break
        if parent.tag in AROUND:
            found.append(f"in {parent.tag}")
        parent = parent.parent
    return tuple(dict.fromkeys(found))


def first_links(folder: Path) -> Iterator[Link]:
    known = json.loads((folder / "articles.json").read_text("utf-8"))
    own: dict[str, set[str]] = defaultdict(set)
    for url in known:
        own[domain_of(url)].add(target_of_url(url))
    forms = {domain: {form(target) for target in targets} - {None} for domain, targets in own.items()}
    seen: set[tuple[str, str]] = set()
    for url, about in known.items():
        domain = domain_of(url)
        raw = (folder / about["file"]).read_bytes()
        tree = LexborHTMLParser(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
        for node in tree.css("a[href]"):
            try:
                found = urljoin(url, (node.attributes.get("href") or "").strip()).partition("#")[0]
                if urlsplit(found).scheme not in ("http", "https") or domain_of(found) != domain:
                    continue
            except ValueError:
                continue
            target = target_of_url(found)
            its, is_page = form(target), target in own[domain]
            if target == "/" or (domain, target) in seen or its is None:
                continue
            seen.add((domain, target))
            is_article = is_page or its in forms[domain]
            if not is_article or not _WORDS.issuperset(its[0]):  # type: ignore[arg-type]
                yield Link(domain, target, is_article, is_page, words(" ".join(node.text().split())), places(node))


def anchored(link: Link) -> Sequence[str]:
    return (*features_of(link.target), f"words:{min(int(link.words), MOST_WORDS)}")


def placed(link: Link) -> Sequence[str]:
    return (*features_of(link.target), *link.places)


SETS: Mapping[str, Features] = {
    "URL": lambda link: features_of(link.target),
    "URL, words of the link": anchored,
    "URL, place of the link": placed,
    "all": lambda link: (*anchored(link), *link.places),
}


def quality(weights: Mapping[str, float], links: Sequence[Link], features: Features) -> tuple[float, float, float]:
    """Precision and recall, and the probability that an article is above another page (AUC)."""
    scored = sorted(
        (weights[""] + sum(weights.get(feature, 0.0) for feature in features(link)), link.is_article, share)
        for link, share in zip(links, shares(links), strict=True)
    )
    right = sum(share for odds, is_article, share in scored if odds >= 0.0 and is_article)
    fits = sum(share for odds, _, share in scored if odds >= 0.0)
    articles = sum(share for _, is_article, share in scored if is_article)
    others = above = 0.0
    for _, is_article, share in scored:
        if is_article:
            above += share * others
        else:
            others += share
    return right / fits, right / articles, above / (articles * others)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--aside", action="store_true")
    chosen = parser.parse_args()
    links = list(first_links(chosen.folder))
    known = [link for link in links if not is_set_aside(link.domain)]
    aside = [link for link in links if is_set_aside(link.domain)]
    domains = sorted({link.domain for link in known})
    random.Random(1).shuffle(domains)
    parts = [frozenset(domains[part::PARTS]) for part in range(PARTS)]
    print(f"{len(known):,} links of {len(domains)} domains, {len(aside):,} of others")
    columns = ["precision", "recall", "AUC"] * (1 + chosen.aside)  # in the cross-validation, and set aside
    print(f"| features | {' | '.join(columns)} |")
    print(f"|---|{'--:|' * len(columns)}")
    for name, features in SETS.items():
        found = []
        for part in parts:
            weights = fitted([link for link in known if link.domain not in part], features)
            found.append(quality(weights, [link for link in known if link.domain in part], features))
        means = [sum(one[place] for one in found) / PARTS for place in range(3)]
        if chosen.aside:
            means += quality(fitted(known, features), aside, features)
        print(f"| {name} | {' | '.join(f'{mean:.3f}' for mean in means)} |", flush=True)


if __name__ == "__main__":
    main()
