"""Trains and measures the choice of the blocks of text that are an article.

    python -m bench.quality.text_choice FOLDER ... [--write]

Each FOLDER has real pages: `articles.json`, an object of URL to {"file": its HTML in FOLDER, gzipped, "body" or "text":
what a person or a parser made for the site says that its article is; or "with" and "without": strings that must and
must not be in it}. See `bench.quality.extraction` for "body", which news pages have; pages with a "text" may be others,
such as blogs and guides. If folders share a page, the first one's is used. Domains with an even hash train, with a
cross-validation of five folds; the others are only measured, and only with --set-aside. --write replaces the weights
of the project; with OMP_NUM_THREADS=1 the same pages give the same ones. Probabilities of the first pass that a page
of the training adds to the second come from weights that
were fitted on other domains.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import statistics
import time
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

import crawlers
from bench.halves import is_set_aside
from bench.quality.extraction import overlap, tokens, whole
from crawlers.missions.news.article.page_metadata import ArticleParts, json_ld, meta_tags
from crawlers.missions.news.article.text_blocks import TextBlock, page_tree, text_blocks
from crawlers.missions.news.article.text_choice import OF_BLOCKS, best_set, features, lengths_of, probabilities, votes
from crawlers.pages.charset import decode
from crawlers.urls.domains import rule_domain
from crawlers.urls.resolution import site_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NEWS = 6.0  # times as much as another page counts a news page: there are few, and they are what we want
FOLDS = 5
LEAST_FOLDS = 2  # with whole pages: one is measured, the other trains
STRINGS = 1.0  # times as much counts a page of which only some strings are known
WHOLE = 50.0  # times as much as the blocks of a page counts its F1, of expected words
LEAST_WORDS = 20  # of an article
STRENGTH = 0.3  # of the Gaussian prior of the weights, around 0
MIN_GRAMS = 0.5  # of the groups of three words of a block in the text: then the block belongs to it
SMALL = 0.12  # a feature whose weight times its deviation is smaller is dropped before the second fit


class Example(NamedTuple):
    """A page of which the article, or some strings of it, are known."""

    domain: str
    kind: str  # "news", "other pages" or "strings"
    truth: str
    wanted: list[str]  # strings
    unwanted: list[str]
    blocks: list[TextBlock]
    columns: dict[str, Any]
    labels: Any  # 1 for blocks of the article, nan for those of which nothing is known
    words: Any  # of each block


def examples(folders: Sequence[Path], set_aside: bool) -> Iterator[Example]:
    seen: set[str] = set()
    for folder in folders:
        for url, about in json.loads((folder / "articles.json").read_text("utf-8")).items():
            domain = rule_domain(site_of(url))
            truth = whole(about["body"]) if "body" in about else about.get("text") or ""
            wanted, unwanted = ([] if truth else about.get(name, []) for name in ("with", "without"))
            if not (truth or wanted) or is_set_aside(domain) != set_aside or url in seen:
                continue
            seen.add(url)
            html = decode(gzip.decompress((folder / about["file"]).read_bytes()), None)[0]
            tree = page_tree(html)
            if tree is None or not (blocks := text_blocks(tree)):
                continue
            declared = json_ld(tree) or ArticleParts()
            sources = (declared, meta_tags(tree))
            description = next((parts.description for parts in sources if parts.description), "")
            yield Example(
                domain,
                "strings" if wanted else "news" if "body" in about else "other pages",
                truth,
                [" ".join(one.split()) for one in wanted],
                [" ".join(one.split()) for one in unwanted],
                blocks,
                features(blocks, description),
                np.array(labels(blocks, truth) if truth else known_labels(blocks, wanted, unwanted)),
                np.array([len(tokens(block.text)) for block in blocks], float),
            )


def known_labels(blocks: Sequence[TextBlock], wanted: Sequence[str], unwanted: Sequence[str]) -> list[float]:
    """What the strings that must and must not be in the article say of each of *blocks*."""
    found = []
    for block in blocks:
        is_wanted = any(" ".join(one.split()) in block.text for one in wanted)
        is_unwanted = any(" ".join(one.split()) in block.text for one in unwanted)
        found.append(1.0 if is_wanted else 0.0 if is_unwanted else math.nan)
    return found


def labels(blocks: Sequence[TextBlock], truth: str) -> list[float]:
    """Whether each of *blocks* belongs to *truth*: it is a line of it, or most of its words stand there together."""
    words = tokens(truth)
    grams = set(zip(words, words[1:], words[2:], strict=False))
    lines = {tuple(tokens(line)) for line in truth.splitlines()}
    found = []
    for block in blocks:
        own = tokens(block.text)
        its = list(zip(own, own[1:], own[2:], strict=False))
        found.append(
            float(tuple(own) in lines or (len(its) > 1 and sum(g in grams for g in its) > MIN_GRAMS * len(its)))
        )
    return found


def fitted(pages: Sequence[Example], names: Sequence[str]) -> dict[str, float]:
    """The weights of the model; "" is the constant.

    First those of the logistic regression over blocks; from there those that also make the F1 of the pages high, where
    each block counts with its probability.
    """
    data = _Data(pages, names)
    start = minimize(data.of_blocks, np.zeros(len(names) + 1), jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
    found = minimize(data.of_both, start, jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
    effects = np.abs(found[1:]) * data.deviations
    kept = [name for name, effect in zip(names, effects, strict=True) if effect >= SMALL]
    if len(kept) < len(names):
        return fitted(pages, kept)
    return {"": round(float(found[0]), 3)} | {
        name: round(float(one), 3) for name, one in zip(names, found[1:], strict=True)
    }


class _Data:
    """The blocks of all pages, and the losses of weights on them with their gradients."""

    def __init__(self, pages: Sequence[Example], names: Sequence[str]) -> None:
        # Pages with a text come first, as whole pages; of the others the blocks of which something is known follow.
        whole_pages = [page for page in pages if page.truth]
        known = [(page, ~np.isnan(page.labels)) for page in pages if not page.truth]
        self.matrix = np.vstack(
            [_matrix(page, names) for page in whole_pages] + [_matrix(page, names)[its] for page, its in known]
        )
        self.right = np.concatenate([page.labels for page in whole_pages] + [page.labels[its] for page, its in known])
        self.weight = np.concatenate(
            [_shares(page) for page in whole_pages]
            + [np.full(its.sum(), STRINGS / max(np.nansum(page.labels), 1.0)) for page, its in known]
        )
        self.deviations = self.matrix.std(0)
        self.words = np.concatenate([page.words for page in whole_pages])
        self.sizes = np.array([len(page.blocks) for page in whole_pages])
        self.starts = np.append(0, np.cumsum(self.sizes)[:-1])
        self.wanted = self.words * self.right[: len(self.words)]
        self.lengths = np.add.reduceat(self.wanted, self.starts)
        importance = np.array([NEWS if page.kind == "news" else 1.0 for page in whole_pages])
        self.importance = WHOLE * importance * (self.lengths >= LEAST_WORDS)

    def of_blocks(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        odds = self.matrix @ point[1:] + point[0]
        error = self.weight * (_probability(odds) - self.right)
        slope = np.concatenate([[error.sum()], self.matrix.T @ error + STRENGTH * point[1:]])
        value = (self.weight * (np.logaddexp(0, odds) - self.right * odds)).sum()
        return float(value + STRENGTH / 2 * point[1:] @ point[1:]), slope

    def of_both(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = self.of_blocks(point)
        matrix = self.matrix[: len(self.words)]
        p = _probability(matrix @ point[1:] + point[0])
        right = np.add.reduceat(self.wanted * p, self.starts)
        both = np.maximum(np.add.reduceat(self.words * p, self.starts) + self.lengths, 1.0)
        loss = self.importance * (1 - 2 * right / both)
        by_right, by_words = -2 * self.importance / both, 2 * self.importance * right / both**2
        error = np.repeat(by_right, self.sizes) * self.wanted + np.repeat(by_words, self.sizes) * self.words
        error *= p * (1 - p)
        return value + float(loss.sum()), slope + np.concatenate([[error.sum()], matrix.T @ error])


def _matrix(page: Example, names: Sequence[str]) -> np.ndarray:
    return np.stack([page.columns[name] for name in names], 1)


def _probability(odds: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(odds, -30, 30)))


def _shares(page: Example) -> np.ndarray:
    """What each block counts: its words, as a share of those of the article."""
    return (NEWS if page.kind == "news" else 1.0) * page.words / max(float((page.words * page.labels).sum()), 20.0)


def with_votes(pages: Sequence[Example], firsts: Sequence[Any]) -> list[Example]:
    """*pages* with the features of the second pass, from the probabilities of the first."""
    return [
        page._replace(columns=page.columns | votes(page.blocks, first))
        for page, first in zip(pages, firsts, strict=True)
    ]


def texts(pages: Sequence[Example], seconds: Sequence[Any]) -> list[str]:
    found = []
    for page, p in zip(pages, seconds, strict=True):
        chosen = best_set(p, lengths_of(page.blocks))
        found.append("\n".join(block.text for block, one in zip(page.blocks, chosen, strict=True) if one))
    return found


def fold_of(page: Example) -> int:
    return int.from_bytes(blake2b(page.domain.encode(), digest_size=4).digest(), "big") // 2 % FOLDS


def held_out(pages: Sequence[Example]) -> list[Any]:
    """The probabilities of the blocks of each page, by weights that were fitted on other domains."""
    folds = [fold_of(page) for page in pages]
    found: list[Any] = [None] * len(pages)
    for fold in range(FOLDS):
        others = [page for page, its in zip(pages, folds, strict=True) if its != fold]
        weights = fitted(others, sorted(pages[0].columns))
        for number, its in enumerate(folds):
            if its == fold:
                found[number] = probabilities(pages[number].columns, weights)
    return found


def f1(pages: Sequence[Example], texts: Sequence[str]) -> float:
    """The mean F1 of words; for strings that of all strings together."""
    if pages[0].truth:
        return statistics.fmean(
            overlap(tokens(page.truth), tokens(text)) for page, text in zip(pages, texts, strict=True)
        )
    hits = false = 0
    for page, text in zip(pages, texts, strict=True):
        flat = f" {' '.join(text.split())} "
        hits += sum(one in flat for one in page.wanted)
        false += sum(one in flat for one in page.unwanted)
    return 2 * hits / (hits + false + sum(len(page.wanted) for page in pages))


def show(name: str, pages: Sequence[Example], texts: Sequence[str]) -> None:
    for kind in ("news", "other pages", "strings"):
        some = [(page, text) for page, text in zip(pages, texts, strict=True) if page.kind == kind]
        if not some:
            continue
        its, ours = zip(*some, strict=True)
        print(f"| {name}, {kind} | {len(its)} | {f1(its, ours):.4f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--set-aside", action="store_true", help="measure the other half, too")
    chosen = parser.parse_args()
    known = list(examples(chosen.folders, set_aside=False))
    if len({fold_of(page) for page in known if page.truth}) < LEAST_FOLDS:
        parser.error("pages of several domains for training are needed that have a body or a text")
    start = time.process_time()
    weights: dict[str, dict[str, float]] = {}
    weights["first"] = fitted(known, sorted(known[0].columns))
    voted = with_votes(known, held_out(known))
    weights["second"] = fitted(voted, sorted(voted[0].columns))
    if chosen.write:
        file = Path(crawlers.__file__).parent / OF_BLOCKS
        file.write_text(json.dumps(weights, indent=0, sort_keys=True) + "\n", "utf-8")
    numbers = " and ".join(str(len(some)) for some in weights.values())
    print(f"{numbers} weights from {sum(len(one.blocks) for one in known):,} blocks of {len(known)} pages")
    print("| F1 | pages | ours |\n|---|--:|--:|")
    show("cross-validation", known, texts(voted, held_out(voted)))
    if chosen.set_aside:
        others = list(examples(chosen.folders, set_aside=True))
        others = with_votes(others, [probabilities(one.columns, weights["first"]) for one in others])
        show("set aside", others, texts(others, [probabilities(one.columns, weights["second"]) for one in others]))
    print(f"{time.process_time() - start:.0f} s")


if __name__ == "__main__":
    main()
