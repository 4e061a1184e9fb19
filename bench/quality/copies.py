"""Measures how well copies of real articles are found after edits, and that new documents are kept.

    python -m bench.quality.copies FOLDER [--half set-aside|tuning]

Reads the pages that FOLDER/articles.json names. Their articles are the documents of one domain; then each edit
(`text_edits`) of each of them is shown at another host of the domain, under another URL. "Copy first" is the other way
round: the edited text is the document, and the article is shown. The pages are divided by their registered domains:
those whose hash is even are for tuning, the others are set aside.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
import tempfile
import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench.halves import is_set_aside
from bench.quality import text_edits
from crawlers.algorithms.dedup.document_fingerprints import document_fingerprint, domain_of
from crawlers.algorithms.dedup.shingles import words
from crawlers.extraction.article.article_reader import extract_article
from crawlers.items import Article
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.database import Database
from crawlers.storage.news.document_copies import Duplicates
from crawlers.storage.news.document_keys import DocumentKeys
from crawlers.storage.schema.news_tables import DocumentRow
from crawlers.storage.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    Edit = Callable[[Article, Sequence[Article], random.Random], Article | None]

LEAST_WORDS = 100  # of an article that is edited
COPIES: dict[str, Edit] = {
    "2 to 5 words": text_edits.small_edits,
    "date line": text_edits.date_line,
    "paragraph dropped": text_edits.paragraph_dropped,
    "correction note": text_edits.correction_note,
    "headline and lead rewritten, end cut": text_edits.rewritten_and_cut,
}
DISTINCT: Mapping[str, Callable[..., Article | None]] = {
    "follow-up: half of the old text, 50 % new": partial(text_edits.follow_up, kept=0.5, news=0.5),
    "follow-up: half of the old text, 40 % new": partial(text_edits.follow_up, kept=0.5, news=0.4),
    "follow-up: 80 % of the old text, 40 % new": partial(text_edits.follow_up, kept=0.8, news=0.4),
    "follow-up: the whole old text, and 75 % more": partial(text_edits.follow_up, kept=1.0, news=0.75 / 1.75),
    "follow-up: the whole old text, and 60 % more": partial(text_edits.follow_up, kept=1.0, news=0.6 / 1.6),
    "follow-up: the whole old text, and 40 % more": partial(text_edits.follow_up, kept=1.0, news=0.4 / 1.4),
    "the same with other numbers": text_edits.other_numbers,
    "the same with one word in 12 replaced": partial(text_edits.other_words, every=12),
    "the same with one word in 20 replaced": partial(text_edits.other_words, every=20),
}


def real_articles(folder: Path, *, set_aside: bool) -> list[Article]:
    """Return the articles of one half of the pages in *folder* that have at least LEAST_WORDS words, each once."""
    pages = json.loads((folder / "articles.json").read_text())
    found: dict[str, Article] = {}
    for url, truth in pages.items():
        if is_set_aside(domain_of(url)) == set_aside:
            body = gzip.decompress((folder / truth["file"]).read_bytes())
            article = extract_article(body, url, None, {}, time.time())
            if isinstance(article, Article) and len(words(article.text)) >= LEAST_WORDS:
                found.setdefault(article.text, replace(article, canonical_url=""))
    return list(found.values())


class Store:
    """A store in *folder* with *documents* of one domain."""

    def __init__(self, folder: Path, documents: Iterable[Article]) -> None:
        self._database = Database(f"sqlite:///{folder / 'crawl.sqlite'}")
        self._writer = Writer(self._database)
        self.judge_ms: list[float] = []
        duplicates = self._duplicates()
        self.refused = 0
        for page, article in enumerate(documents, start=1):
            url, changes = f"https://www.generated-daily.com/{page}", ChangeSet()
            fingerprint = document_fingerprint(url, article)
            self.refused += duplicates.judge(page, url, article, changes, fingerprint) is not None
            row = (page, 1, url, None, article.title, article.text, None, None, "[]", None, None, None, "rule")
            changes.add(DocumentRow(*row, fingerprint.text_hash, 1, 0.0, None))
            self._writer.submit(changes)
        self._writer.flush()

    def copy_of(self, article: Article) -> int | None:
        """Return the page of the document of which *article* is a copy; nothing is stored."""
        url = "https://m.generated-daily.com/again"
        duplicates = self._duplicates()
        fingerprint = document_fingerprint(url, article)
        start = time.thread_time()
        copy = duplicates.judge(10**6, url, article, ChangeSet(), fingerprint)
        self.judge_ms.append(1000 * (time.thread_time() - start))
        return None if copy is None else copy.page_id

    def _duplicates(self) -> Duplicates:
        keys = DocumentKeys(self._database, self._writer)
        return Duplicates(self._database, keys, self._writer)

    def close(self) -> None:
        self._writer.close()
        self._database.close()


@contextmanager
def open_store(documents: Iterable[Article]) -> Iterator[Store]:
    """Return a temporary store with *documents*."""
    with tempfile.TemporaryDirectory(prefix="bench-copies-") as folder:
        store = Store(Path(folder), documents)
        try:
            yield store
        finally:
            store.close()


def edits(kind: str, articles: list[Article], seed: int) -> list[tuple[int, Article]]:
    """Return edited *articles*, each with the number of the one of which it was made, from 1."""
    by_language: dict[str, list[Article]] = defaultdict(list)
    for article in articles:
        by_language[article.language].append(article)
    rng, found, edit = random.Random(f"{seed} {kind}"), [], (COPIES.get(kind) or DISTINCT[kind])
    for number, article in enumerate(articles, start=1):
        others = [other for other in by_language[article.language] if other is not article]
        if len(others) >= 2 and (edited := edit(article, others, rng)) is not None:
            found.append((number, edited))
    return found


def measure(articles: list[Article], seed: int = 1) -> None:
    """Print the recall of each kind of copy, and how many new documents were lost."""
    judge_ms: list[float] = []
    print(f"{len(articles)} articles\n\n| copy | shown | recognised | copy first: recognised |\n|---|--:|--:|--:|")
    numberless = [text_edits.without_numbers(article) for article in articles]
    kinds = [(kind, kind, articles) for kind in COPIES]
    for label, kind, originals in [*kinds, ("date line, text without numbers", "date line", numberless)]:
        copies = edits(kind, originals, seed)
        with open_store(originals) as store:
            right = sum(store.copy_of(copy) == number for number, copy in copies)
            judge_ms += store.judge_ms
        with open_store([copy for _, copy in copies]) as store:
            pages = [store.copy_of(originals[number - 1]) for number, _ in copies]
        reverse = sum(page == wanted for wanted, page in enumerate(pages, start=1))
        print(f"| {label} | {len(copies)} | {right / len(copies):.3f} | {reverse / len(copies):.3f} |", flush=True)
    print("\n| new document | shown | lost | shown before the old one: lost |\n|---|--:|--:|--:|")
    with open_store(articles) as store:
        print(f"| other article | {len(articles)} | {store.refused} | |")
        for kind in DISTINCT:
            news = edits(kind, articles, seed)
            lost = sum(store.copy_of(new) is not None for _, new in news)
            with open_store([new for _, new in news]) as other:
                reverse = sum(other.copy_of(articles[number - 1]) is not None for number, _ in news)
            print(f"| {kind} | {len(news)} | {lost} | {reverse} |", flush=True)
        judge_ms += store.judge_ms
    for kind, some in text_edits.reports(random.Random(seed), 100).items():
        with open_store(some) as store:
            print(f"| template: {kind} | {len(some)} | {store.refused} | |")
    judge_ms.sort()
    slow_ms = judge_ms[len(judge_ms) * 99 // 100]
    print(f"\nA judgement takes {statistics.mean(judge_ms):.2f} ms of the processor, 99 %: {slow_ms:.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=("set-aside", "tuning"), default="set-aside")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    measure(real_articles(chosen.folder, set_aside=chosen.half == "set-aside"), chosen.seed)


if __name__ == "__main__":
    main()
