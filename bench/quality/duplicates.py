"""Measures "no document twice within a domain": errors, and the cost of a key.

    python -m bench.quality.duplicates documents [--pages 100000] [--domains 100]
    python -m bench.quality.duplicates keys [--keys 10000000]

`documents` judges and stores generated pages, through the real classes and a real SQLite store, and counts copies that
were stored and documents that were not. `keys` claims random keys, three a document, and looks up as many unclaimed
ones.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xxhash

from bench.quality.reprints import GeneratedPress
from crawlers.algorithms.dedup.document_fingerprints import document_fingerprint
from crawlers.algorithms.urls.keys import signed
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.database import Database
from crawlers.storage.news.document_copies import Duplicates
from crawlers.storage.news.document_keys import DocumentKeys
from crawlers.storage.schema.news_tables import DocumentRow
from crawlers.storage.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlers.items import Key128

KEYS_A_DOCUMENT = 3
CLAIMED_AT_ONCE = 300  # keys; claims of single documents are timed apart
DOCUMENTS_TIMED = 5_000


def documents(options: argparse.Namespace) -> None:
    """Judge the pages of a generated press, and print which verdicts were wrong."""
    with tempfile.TemporaryDirectory(prefix="bench-duplicates-") as folder:
        database = Database(f"sqlite:///{Path(folder) / 'crawl.sqlite'}")
        writer = Writer(database)
        duplicates = Duplicates(database(database, writer), writer)
        document_of: dict[int, int] = {}  # by the number of what was written: the page that is stored
        shown, missed, lost = Counter[str](), Counter[str](), Counter[str]()
        reasons: dict[str, Counter[str]] = defaultdict(Counter)
        print_s, judge_s = [], []
        start = time.perf_counter()
        for page_id, page in enumerate(GeneratedPress(options.domains, random.Random(1)).pages(options.pages), start=1):
            changes = ChangeSet()
            began = time.perf_counter()
            fingerprint = document_fingerprint(page.url, page.article)
            made = time.perf_counter()
            copy = duplicates.judge(page_id, page.url, page.article, changes, fingerprint)
            judge_s.append(time.perf_counter() - made)
            print_s.append(made - began)
            original = document_of.get(page.written)
            shown[page.kind] += 1
            if copy is None:
                missed[page.kind] += original is not None
                document_of.setdefault(page.written, page_id)
                texts = [page.article.title, page.article.text]
                row = (page_id, 1, page.url, None, *texts, None, None, "[]", None, None, None, "rule")
                changes.add(DocumentRow(*row, fingerprint.text_hash, 1, 0.0, None))
            else:
                lost[page.kind] += copy.page_id != original
                reasons[page.kind][copy.reason] += 1
            writer.submit(changes)
        writer.flush()
        seconds = time.perf_counter() - start
        with database.read() as connection:
            stored = connection.exec_driver_sql("SELECT count(*) FROM document").scalar_one()
        writer.close()
        database.close()
    print("| page | shown | copies stored | distinct lost | told by |\n|---|--:|--:|--:|---|")
    for kind, number in sorted(shown.items()):
        told = ", ".join(f"{reason} {times:,}" for reason, times in reasons[kind].most_common())
        print(f"| {kind} | {number:,} | {missed[kind]} | {lost[kind]} | {told} |")
    judged = sorted(1000 * one for one in judge_s)
    report(
        "documents", pages=options.pages, domains=options.domains,
        written=len(document_of), stored=stored, copies_stored=missed.total(), distinct_lost=lost.total(),
        pages_per_s=round(options.pages / seconds), print_ms=round(1000 * statistics.mean(print_s), 3),
        judge_ms=round(statistics.mean(judged), 3), judge_ms_99=round(judged[len(judged) * 99 // 100], 3),
    )  # fmt: skip


def keys(options: argparse.Namespace) -> None:
    """Claim and look up keys, and print what they cost."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-duplicates-")))
        database = Database(f"sqlite:///{folder / 'crawl.sqlite'}")
        stack.callback(database.close)
        writer = Writer(database)
        stack.callback(writer.close)
        engine = DocumentKeys(database, writer)

        def size_bytes() -> int:
            writer.flush()
            with database.read() as connection:
                size = "SELECT sum(pgsize) FROM dbstat WHERE name = 'document_key'"
                return int(connection.exec_driver_sql(size).scalar_one())

        empty = size_bytes()

        def claim(first: int, last: int, at_once: int) -> None:
            for part in parts(first, last, at_once):
                changes = ChangeSet()
                engine.claim([key(number) for number in part], owner(part.start), changes)
                writer.submit(changes)

        claim_s = timed(lambda: claim(0, options.keys, CLAIMED_AT_ONCE), writer)
        used = size_bytes() - empty
        wrong = found = 0

        def look_up(first: int, last: int) -> None:
            nonlocal wrong, found
            for part in parts(first, last, CLAIMED_AT_ONCE):
                holders = engine.find([key(number) for number in part])
                found += sum(holder is not None for holder in holders)
                wrong += sum(holder != owner(part.start) for holder in holders)

        known_s = timed(lambda: look_up(0, options.keys), writer)
        assert found == options.keys, "a key was lost"
        assert wrong == 0, "a key is held by another page"
        found = 0
        absent_s = timed(lambda: look_up(options.keys, 2 * options.keys), writer)
        false_positives = found
        first = 2 * options.keys
        last = first + DOCUMENTS_TIMED * KEYS_A_DOCUMENT
        single_s = timed(lambda: claim(first, last, KEYS_A_DOCUMENT), writer)
        report(
            "keys", keys=options.keys, bytes_a_key=round(used / options.keys, 1),
            claims_per_s=round(options.keys / claim_s), known_per_s=round(options.keys / known_s),
            absent_per_s=round(options.keys / absent_s), false_positives=false_positives,
            documents_per_s=round(DOCUMENTS_TIMED / single_s),
            python_peak_mib=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        )  # fmt: skip


def owner(number: int) -> int:
    """The page that claims a key; those of the store's 10^9 pages have ten digits."""
    return 10**9 + number // CLAIMED_AT_ONCE


def key(number: int) -> Key128:
    whole = xxhash.xxh3_128_intdigest(number.to_bytes(8))
    return signed(whole >> 64), signed(whole & (1 << 64) - 1)


def parts(first: int, last: int, at_once: int) -> Iterator[range]:
    return (range(n, min(n + at_once, last)) for n in range(first, last, at_once))


def timed(work: Any, writer: Writer) -> float:
    """Seconds until the *work* is done and committed."""
    start = time.perf_counter()
    work()
    writer.flush()
    return time.perf_counter() - start


def report(bench: str, **figures: object) -> None:
    print(json.dumps({"bench": f"duplicates {bench}", **figures}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts_ = parser.add_subparsers(required=True)
    one = parts_.add_parser("documents")
    one.add_argument("--pages", type=int, default=100_000)
    one.add_argument("--domains", type=int, default=100)
    one.set_defaults(run=documents)
    other = parts_.add_parser("keys")
    other.add_argument("--keys", type=int, default=10_000_000)
    other.set_defaults(run=keys)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
