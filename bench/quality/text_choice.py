"""Trains and measures the choice of the blocks of text that are an article.

    python -m bench.quality.text_choice FOLDER ... [--write]

Each FOLDER has real pages: `articles.json`, an object of URL to {"file": its HTML in FOLDER, gzipped, "body" or "text":
what a person or a parser made for the site says that its article is}. See `bench.quality.extraction` for "body", which
news pages have; pages with a "text" may be others, such as blogs and guides. Domains with an even hash train, with a
cross-validation of five folds; the others are only measured, and only with --set-aside. --write replaces the weights
of the project.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import time
from collections import defaultdict
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from lxml.html import HtmlElement
from scipy.optimize import minimize
from trafilatura import load_html

from bench.halves import is_set_aside
from bench.quality.extraction import overlap, tokens, whole
from crawlers.algorithms.news import text_choice
from crawlers.algorithms.news.text_choice import WEIGHTS, TextBlock, best_set, features
from crawlers.algorithms.urls.domains import rule_domain
from crawlers.algorithms.urls.resolution import site_of
from crawlers.extraction.article.article_reader import extracted_text
from crawlers.extraction.article.json_ld import json_ld
from crawlers.extraction.article.text_blocks import text_blocks
from crawlers.extraction.charset import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NEWS = 3.0  # times as much as another page counts a news page: there are few, and they are what we want
FOLDS = 5
STRENGTH = 1.0  # of the Gaussian prior of the weights
MIN_GRAMS = 0.5  # of the groups of three words of a block in the text: then the block belongs to it
SMALL = 0.06  # a feature whose weight times its deviation is smaller is dropped before the second fit


class Example(NamedTuple):
    """A page of which the article is known."""

    domain: str
    is_news: bool
    truth: str
    blocks: list[TextBlock]
    columns: dict[str, Any]
    labels: Any  # 1 for blocks of the article
    extracted: str


def examples(folder: Path, set_aside: bool) -> Iterator[Example]:
    for url, about in json.loads((folder / "articles.json").read_text("utf-8")).items():
        domain = rule_domain(site_of(url))
        truth = whole(about["body"]) if "body" in about else about.get("text")
        if not truth or is_set_aside(domain) != set_aside:
            continue
        tree = load_html(
            decode(gzip.decompress((folder / about["file"]).read_bytes()), None)[0].decode("utf-8", "replace")
        )
        blocks = text_blocks(tree) if isinstance(tree, HtmlElement) else []
        if not blocks:
            continue
        declared = json_ld(tree, frozenset([url]))
        extracted = extracted_text(tree, url)
        columns = features(blocks, extracted, declared.text if declared else "")
        yield Example(domain, "body" in about, truth, blocks, columns, np.array(labels(blocks, truth)), extracted)


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
    """The weights of the logistic regression; "" is the constant. Each page weighs as much as its article is long."""
    rows = []
    for page in pages:
        rows.append(np.stack([page.columns[name] for name in names], 1))
    matrix = np.vstack(rows)
    right = np.concatenate([page.labels for page in pages])
    weight = np.concatenate([_shares(page) for page in pages])

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        odds = matrix @ point[1:] + point[0]
        error = weight * (1 / (1 + np.exp(-np.clip(odds, -30, 30))) - right)
        slope = np.concatenate([[error.sum()], matrix.T @ error + STRENGTH * point[1:]])
        value = (weight * (np.logaddexp(0, odds) - right * odds)).sum() + STRENGTH / 2 * point[1:] @ point[1:]
        return float(value), slope

    start = np.zeros(matrix.shape[1] + 1)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 400}).x
    effects = np.abs(found[1:]) * matrix.std(0)
    kept = [name for name, effect in zip(names, effects, strict=False) if effect >= SMALL]
    if len(kept) < len(names):
        return fitted(pages, kept)
    return {"": round(float(found[0]), 3)} | {
        name: round(float(one), 3) for name, one in zip(names, found[1:], strict=False)
    }


def _shares(page: Example) -> np.ndarray:
    """What each block counts: its words, as a share of those of the article."""
    words = np.array([len(tokens(block.text)) for block in page.blocks], float)
    return (NEWS if page.is_news else 1.0) * words / max(float((words * page.labels).sum()), 20.0)


def f1(page: Example, weights: dict[str, float]) -> float:
    odds = weights[""] + sum(weight * page.columns[name] for name, weight in weights.items() if name)
    lengths = np.array([len(block.text) for block in page.blocks], float)
    chosen = best_set(1 / (1 + np.exp(-np.clip(odds, -30, 30))), lengths)
    return overlap(
        tokens(page.truth),
        tokens("\n".join(block.text for block, one in zip(page.blocks, chosen, strict=True) if one)),
    )


def cross_validated(pages: Sequence[Example]) -> list[float]:
    folds = [
        int.from_bytes(blake2b(page.domain.encode(), digest_size=4).digest(), "big") // 2 % FOLDS for page in pages
    ]
    found = [0.0] * len(pages)
    for fold in range(FOLDS):
        others = [page for page, its in zip(pages, folds, strict=True) if its != fold]
        weights = fitted(others, sorted(pages[0].columns))
        for number, its in enumerate(folds):
            if its == fold:
                found[number] = f1(pages[number], weights)
    return found


def show(name: str, pages: Sequence[Example], chosen: Sequence[float]) -> None:
    kinds: dict[bool, list[tuple[float, float, float]]] = defaultdict(list)
    for page, value in zip(pages, chosen, strict=True):
        labelled = "\n".join(block.text for block, one in zip(page.blocks, page.labels, strict=True) if one)
        wanted = tokens(page.truth)
        kinds[page.is_news].append((overlap(wanted, tokens(page.extracted)), value, overlap(wanted, tokens(labelled))))
    for is_news, values in sorted(kinds.items(), reverse=True):
        extractor, ours, best = map(statistics.fmean, zip(*values, strict=True))
        kind = "news" if is_news else "other pages"
        print(f"| {name}, {kind} | {len(values)} | {extractor:.3f} | {ours:.3f} | {best:.3f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--set-aside", action="store_true", help="measure the other half, too")
    chosen = parser.parse_args()
    known = [one for folder in chosen.folders for one in examples(folder, set_aside=False)]
    weights = fitted(known, sorted(known[0].columns))
    if chosen.write:
        file = Path(text_choice.__file__).with_name(WEIGHTS)
        file.write_text(json.dumps(weights, indent=0, sort_keys=True) + "\n", "utf-8")
    print(f"{len(weights)} weights from {sum(len(one.blocks) for one in known):,} blocks of {len(known)} pages")
    print("| F1 of words | pages | extractor | ours | all right blocks |\n|---|--:|--:|--:|--:|")
    start = time.process_time()
    show("cross-validation", known, cross_validated(known))
    if chosen.set_aside:
        others = [one for folder in chosen.folders for one in examples(folder, set_aside=True)]
        show("set aside", others, [f1(one, weights) for one in others])
    print(f"{time.process_time() - start:.0f} s")


if __name__ == "__main__":
    main()
