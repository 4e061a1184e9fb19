"""Trains and measures the prior: which URLs of a site are articles, before the site has rules.

    python -m bench.news.url_prior FOLDER [--write]

FOLDER has real news pages: `articles.json`, an object of URL to {"file": its HTML in FOLDER, perhaps gzipped}. Labels
are weak: a page of FOLDER is an article; of the other URLs of its registered domain to which it links, one that is
linked by six or more words is an article, and one that is never linked by more than two words is another page. So words
of links are no features. Made-up hosts (`SCHEMAS` of `bench.news.url_rules`, and `worded`) are added. Domains with an
even hash train, the others are set aside; `UNSEEN` hosts are set aside, too. --write replaces the weights of the
project.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar
from urllib.parse import urljoin, urlsplit

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from selectolax.lexbor import LexborHTMLParser

import crawlers
from bench.halves import is_set_aside
from bench.news.url_rules import COMMON, SCHEMAS, UNSEEN, drawn, filled
from crawlers.missions.news.urls.url_classifier import LEARNT_RULES, UrlClassifier
from crawlers.missions.news.urls.url_prior import GROUP_OF, OF_URLS, UrlPrior, features_of, probability_of
from crawlers.missions.news.urls.url_tokens import target_of_url
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.domains import domain_group

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MANY_WORDS, FEW_WORDS = 6, 2  # of the longest link to a URL
MIN_DOMAINS = 3  # with a feature: fewer say nothing about other sites
STRENGTH = 3.0  # of the Gaussian prior of the weights, chosen in a cross-validation of the even domains
MOST = 60.0  # labels of a kind that a domain counts as, at most
SURE = 0.85  # a weak label is dropped before the second fit if the first one is that sure of the opposite
SMALL = 0.02  # a smaller weight is dropped
FIRST = 200  # URLs of a domain whose estimates are held against what they are
DRAWN = 120  # URLs of a kind of a made-up host
WORDED_HOSTS = 20
_WORDS = sorted(GROUP_OF)
_WIDE = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")  # letters of scripts without blanks
_HAND = re.compile(r"[^\W_]+(?:-[^\W_]+){3}|\d{5}")  # the rule of a person: four words with hyphens, or five digits


class Labelled(NamedTuple):
    """A URL with a weak label."""

    domain: str
    target: str  # path and query
    is_article: bool
    is_page: bool = False  # it is a page of the collection: the label is right


class OfKind(Protocol):
    """What labels of any sort have."""

    @property
    def domain(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def is_article(self) -> bool: ...


T = TypeVar("T", bound=OfKind)


def words(text: str) -> float:
    """The number of words of *text*; three letters of a script without blanks are one."""
    return len(text.split()) + len(_WIDE.findall(text)) / 3


def real(folder: Path) -> list[Labelled]:
    """The labels of the pages of *folder*, and of their links."""
    longest: dict[str, dict[str, float]] = defaultdict(dict)
    known = json.loads((folder / "articles.json").read_text("utf-8"))
    for url, about in known.items():
        domain = domain_of(url)
        raw = (folder / about["file"]).read_bytes()
        tree = LexborHTMLParser(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
        for link in tree.css("a[href]"):
            try:
                found = urljoin(url, (link.attributes.get("href") or "").strip()).partition("#")[0]
                if urlsplit(found).scheme not in ("http", "https") or domain_of(found) != domain:
                    continue
            except ValueError:
                continue
            longest[domain][found] = max(longest[domain].get(found, 0.0), words(" ".join(link.text().split())))
    for url in known:
        longest[domain_of(url)][url] = math.inf
    return [
        Labelled(domain, target, count >= MANY_WORDS, math.isinf(count))
        for domain, counts in longest.items()
        for url, count in counts.items()
        if (target := target_of_url(url)) != "/" and (count >= MANY_WORDS or 0 < count <= FEW_WORDS)
    ]


def domain_of(url: str) -> str:
    parts = urlsplit(url)
    return domain_group(f"{parts.scheme}://{parts.netloc}")


def made_up(schemas: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]) -> list[Labelled]:
    found = []
    for name, (forms, siblings) in schemas.items():
        rng = random.Random(name)
        for templates, is_article in ((forms, True), (siblings + COMMON[1:], False)):
            found += [Labelled(name, target, is_article) for target in drawn(templates, DRAWN, rng)]
    return found


def worded() -> list[Labelled]:
    """Made-up hosts whose URLs have the words of `GROUP_OF`, as directories, as ends of titles, and as parameters.

    Real links have too few of some: those to comments and print versions are often made by scripts.
    """
    lasts = ("{id}", "{id}.html", "{slug}", "{slug}-{id}.html", "{hash}", "{two}", "{id}/{slug}", "{y}/{m}/{slug}")
    articles = ("/{section}/{slug}", "/{slug}-{id}.html", "/{section}/{id}", "/{y}/{m}/{d}/{slug}/", "/{hash}")
    found = []
    for number in range(WORDED_HOSTS):
        rng = random.Random(number)
        for _ in range(DRAWN):
            word, last = rng.choice(_WORDS), rng.choice(lasts)
            is_article = GROUP_OF[word] == "article"
            found.append(Labelled(f"words {number}", filled(f"/{word}/{last}", rng), is_article))
            article = rng.choice(articles).rstrip("/")
            if not is_article:
                end = rng.choice(("/{word}", "?{word}=1", "-{word}", "/{word}/{page}")).replace("{word}", word)
                found.append(Labelled(f"words {number}", filled(article + end, rng), False))
            found.append(Labelled(f"words {number}", filled(article, rng), True))
    return found


def shares(labels: Sequence[OfKind]) -> list[float]:
    """What each label counts: a domain with many does not outvote the others."""
    counts = Counter((one.domain, one.is_article) for one in labels)
    return [min(1.0, MOST / counts[one.domain, one.is_article]) for one in labels]


def of_target(one: OfKind) -> Sequence[str]:
    return features_of(one.target)


def fitted(labels: Sequence[T], features_of: Callable[[T], Sequence[str]] = of_target) -> dict[str, float]:
    """The weights of the logistic regression of *labels*; "" is the constant. Both kinds weigh the same."""
    features = [features_of(one) for one in labels]
    domains: dict[str, set[str]] = defaultdict(set)
    for one, its in zip(labels, features, strict=True):
        for feature in its:
            domains[feature].add(one.domain)
    names = sorted(feature for feature, its in domains.items() if len(its) >= MIN_DOMAINS)
    number = {feature: place for place, feature in enumerate(names)}
    columns = [[number[feature] for feature in its if feature in number] for its in features]
    ends = np.cumsum([0, *map(len, columns)])
    matrix = csr_matrix((np.ones(ends[-1]), [c for its in columns for c in its], ends), shape=(len(labels), len(names)))
    right = np.array([one.is_article for one in labels], float)
    weight = np.array(shares(labels))
    weight[right == 1] *= weight[right == 0].sum() / weight[right == 1].sum()

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        odds = matrix @ point[1:] + point[0]
        error = weight * (1 / (1 + np.exp(-odds)) - right)
        slope = np.concatenate([[error.sum()], matrix.T @ error + STRENGTH * point[1:]])
        return float(
            (weight * (np.logaddexp(0, odds) - right * odds)).sum() + STRENGTH / 2 * point[1:] @ point[1:]
        ), slope

    found = minimize(loss, np.zeros(len(names) + 1), jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    weights = {"": float(found[0])} | dict(zip(names, map(float, found[1:]), strict=True))
    return {name: round(value, 2) for name, value in weights.items() if abs(value) >= SMALL or not name}


def trained(labels: Sequence[Labelled]) -> dict[str, float]:
    """Fit twice: without the weak labels of which the first fit is sure that they are wrong."""
    first = UrlPrior(fitted(labels))
    kept = []
    for one in labels:
        p = first.probability(one.target)
        if one.is_page or (p < SURE if not one.is_article else p > 1 - SURE):
            kept.append(one)
    return fitted(kept)


def quality(labels: Sequence[Labelled], fits: Callable[[str], bool]) -> str:
    """Precision and recall."""
    counts: Counter[tuple[bool, bool]] = Counter()
    for one, share in zip(labels, shares(labels), strict=True):
        counts[fits(one.target), one.is_article] += share
    right, wrong, missed = counts[True, True], counts[True, False], counts[False, True]
    return f"{right / max(right + wrong, 1e-9):.3f} / {right / max(right + missed, 1e-9):.3f}"


def by_hand(target: str) -> bool:
    return _HAND.search(target.partition("?")[0].rstrip("/").rpartition("/")[2]) is not None


def calibration(labels: Sequence[Labelled]) -> list[str]:
    """The reliability of estimates, each made before its page is read, and their Brier score; 200 URLs of a domain."""
    by_domain: dict[str, list[Labelled]] = defaultdict(list)
    for one in labels:
        by_domain[one.domain].append(one)
    found = []
    for domain, its in by_domain.items():
        classifier, site = UrlClassifier(LEARNT_RULES), f"http://{domain.partition(':')[0]}"
        for now, one in enumerate(random.Random(domain).sample(its, min(len(its), FIRST))):
            found.append((probability_of(classifier.odds(site, site + one.target)), one.is_article))
            classifier.label(site, site + one.target, 3.0 if one.is_article else -3.0, ChangeSet(), float(now))
    lines = ["| probability | URLs | mean | articles |", "|---|--:|--:|--:|"]
    for fifth in range(5):
        if some := [one for one in found if min(4, int(5 * one[0])) == fifth]:
            mean, share = (sum(column) / len(some) for column in zip(*some, strict=True))
            lines.append(f"| {fifth / 5:.1f} to {(fifth + 1) / 5:.1f} | {len(some):,} | {mean:.2f} | {share:.2f} |")
    return [*lines, f"Brier score {sum((p - is_article) ** 2 for p, is_article in found) / len(found):.3f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    labels = real(chosen.folder)
    known = [one for one in labels if not is_set_aside(one.domain)]
    aside = [one for one in labels if is_set_aside(one.domain)]
    weights = trained([*known, *made_up(SCHEMAS), *worded()])
    if chosen.write:
        file = Path(crawlers.__file__).parent / OF_URLS
        file.write_text(json.dumps(weights, indent=0, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")
    prior = UrlPrior(weights)
    print(f"{len(weights)} weights from {len(known):,} labels of {len({one.domain for one in known})} domains")
    print("| precision / recall | labels | prior | four words or five digits |")
    print("|---|--:|--:|--:|")
    sets = {
        "links, domains of the training": known,
        "links, domains set aside": aside,
        "hosts made up, set aside": made_up(UNSEEN),
    }

    def fits(target: str) -> bool:
        return prior.odds(target) >= 0.0

    for name, some in sets.items():
        print(f"| {name} | {len(some):,} | {quality(some, fits)} | {quality(some, by_hand)} |")
    print("\n".join(calibration(aside)))


if __name__ == "__main__":
    main()
