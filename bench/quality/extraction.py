"""How well articles are extracted: our chain beside trafilatura and htmldate alone, on pages whose contents are known.

python -m bench.quality.extraction FOLDER [--half tuning|set-aside]

Reads `articles.json` there (URL -> file, title, date, author, body or strings that must and must not be in the text)
and the gzipped pages that it names. The halves are by registered domain: pages of the set-aside half decide nothing.
See docs/measurements.md for what the columns mean.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import statistics
import time
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from htmldate import find_date
from trafilatura import bare_extraction

from bench.halves import is_set_aside
from crawlers.missions.news.article.article_reader import extract_article
from crawlers.urls.domains import rule_domain
from crawlers.urls.resolution import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


class Found(NamedTuple):
    """What an extractor says of a page, in plain words."""

    title: str = ""
    date: str = ""  # YYYY-MM-DD
    authors: tuple[str, ...] = ()
    text: str = ""


def trafilatura_alone(body: bytes, url: str) -> Found:
    found = bare_extraction(body, url=url, include_comments=False, with_metadata=True)
    if found is None:
        return Found()
    authors = tuple(filter(None, (found.author or "").split("; ")))
    return Found(found.title or "", found.date or "", authors, found.text or "")


def our_chain(body: bytes, url: str) -> Found:
    article = extract_article(body, url, None, {}, time.time(), least_chars=1)
    if isinstance(article, str):
        return Found()
    return Found(article.title, article.published[:10], article.authors, article.text)


def htmldate_alone(body: bytes, url: str) -> Found:
    return Found(date=find_date(body, url=url, original_date=True, extensive_search=True) or "")


EXTRACTORS: dict[str, Callable[[bytes, str], Found]] = {
    "trafilatura": trafilatura_alone,
    "htmldate": htmldate_alone,
    "ours": our_chain,
}
DATES_ONLY = "htmldate"
HALVES = ("tuning", "set-aside")


def half(url: str) -> str:
    """Return the half that the page at *url* belongs to, by its registered domain."""
    return HALVES[is_set_aside(rule_domain(site_of(url)))]


def plain(text: str) -> str:
    """Return *text* without differences that a reader doesn't see: quotes, dashes, blanks, case."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = re.sub("[\u2018\u2019\u201a\u2039\u203a\u00b4`]", "'", text)
    text = re.sub("[\u201c\u201d\u201e\u00ab\u00bb]", '"', text)
    return " ".join(re.sub("[\u2010-\u2015\u00ad\u200b-\u200f]", "-", text).split())


def overlap(truth: Iterable[str], found: Iterable[str]) -> float:
    """Return F1 of two bags."""
    wanted, got = Counter(truth), Counter(found)
    if not wanted or not got:
        return float(wanted == got)
    return 2 * (wanted & got).total() / (wanted.total() + got.total())


def tokens(text: str) -> list[str]:
    return _TOKEN.findall(plain(text))


def paragraphs(body: dict[str, Any]) -> str:
    return "\n".join(text for section in body["sections"] for text in section["paragraphs"])


def whole(body: dict[str, Any]) -> str:
    """Return the paragraphs with the summary before them and the headlines between them."""
    parts = list(body["summary"])
    for section in body["sections"]:
        parts += [*section["headline"], *section["paragraphs"]]
    return "\n".join(parts)


def measures(truth: dict[str, Any], found: Found) -> Iterator[tuple[str, float]]:
    """Yield the name and the value of each measure that *truth* allows."""
    if truth.get("title"):
        yield "title equal", float(plain(truth["title"]) == plain(found.title))
        yield "title F1", overlap(tokens(truth["title"]), tokens(found.title))
    if truth.get("date"):
        yield "date", float(truth["date"] == found.date)
    if truth.get("author"):
        named = truth["author"]
        names = named.split("; ") if isinstance(named, str) else named
        yield "authors F1", overlap({plain(name) for name in names}, {plain(name) for name in found.authors})
    if "body" in truth:
        yield "paragraphs F1", overlap(tokens(paragraphs(truth["body"])), tokens(found.text))
        yield "body F1", overlap(tokens(whole(truth["body"])), tokens(found.text))
    text = f" {' '.join(found.text.split())} "
    for wanted in truth.get("with", ()):
        yield "with", float(" ".join(wanted.split()) in text)
    for unwanted in truth.get("without", ()):
        yield "without", float(" ".join(unwanted.split()) in text)


def summary(values: dict[str, list[float]]) -> dict[str, float]:
    """Return the mean of each measure; those of strings as precision, recall and F1 of all strings together."""
    means = {name: statistics.fmean(some) for name, some in values.items() if name not in ("with", "without")}
    if values.get("with"):
        hits, false = sum(values["with"]), sum(values["without"])
        means["strings precision"] = hits / ((hits + false) or 1)
        means["strings recall"] = hits / len(values["with"])
        means["strings F1"] = 2 * hits / (hits + false + len(values["with"]))
    return means


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=HALVES, help="only these pages")
    arguments = parser.parse_args()
    folder = arguments.folder
    pages = json.loads((folder / "articles.json").read_text())
    for source in ("fundus", "trafilatura"):
        values: dict[str, dict[str, list[float]]] = {name: defaultdict(list) for name in EXTRACTORS}
        for url, truth in pages.items():
            if truth["source"] != source or arguments.half not in (None, half(url)):
                continue
            body = gzip.decompress((folder / truth["file"]).read_bytes())
            for name, extract in EXTRACTORS.items():
                start = time.process_time()
                found = extract(body, url)
                values[name]["ms"].append((time.process_time() - start) * 1000)
                for measure, value in measures(truth, found):
                    if name != DATES_ONLY or measure == "date":
                        values[name][measure].append(value)
        sums = {name: summary(some) for name, some in values.items()}
        print(f"\n| {source} | pages | {' | '.join(EXTRACTORS)} |\n|---|---|{'---|' * len(EXTRACTORS)}")
        for measure in sums["ours"]:
            count = len(values["ours"].get(measure, ())) or len(values["ours"]["ms"])
            digits = 0 if measure == "ms" else 3
            cells = [f"{some[measure]:.{digits}f}" if measure in some else "" for some in sums.values()]
            print(f"| {measure} | {count} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
