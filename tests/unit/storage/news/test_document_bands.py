"""The candidates for a text are the documents with similar fingerprints."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from crawlers.algorithms.dedup.simhash import simhash
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.database import Database
from crawlers.storage.news.document_bands import DocumentBands
from crawlers.storage.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlers.items import Simhash

DOMAIN = "example.org"


def fingerprint(seed: int, edits: int = 0) -> Simhash:
    rng = random.Random(seed)
    words = [f"w{rng.randrange(500)}" for _ in range(200)]
    return simhash([*words[edits:], *("edit" + str(n) for n in range(edits))])


@pytest.fixture(scope="module")
def stored(tmp_path_factory) -> Iterator[tuple[Database, Writer]]:
    database = Database(f"sqlite:///{tmp_path_factory.mktemp('bands') / 'crawl.sqlite'}")
    writer = Writer(database)
    yield database, writer
    writer.close()
    database.close()


@pytest.fixture
def bands(stored: tuple[Database, Writer]) -> DocumentBands:
    database, writer = stored
    with database.write() as connection:
        connection.exec_driver_sql("DELETE FROM document_band")
    return DocumentBands(database, writer, 12, most_uncommitted=5)


def keep(bands: DocumentBands, stored: tuple[Database, Writer], page: int, kept: Simhash, domain: str = DOMAIN) -> None:
    changes = ChangeSet()
    bands.keep(domain, kept, page, changes)
    stored[1].submit(changes)


def test_candidates_are_sorted_nearest_first(bands, stored):
    keep(bands, stored, 1, fingerprint(1, edits=4))
    keep(bands, stored, 2, fingerprint(1))
    keep(bands, stored, 3, fingerprint(2))
    keep(bands, stored, 4, fingerprint(1), domain="example.com")
    assert bands.near(DOMAIN, fingerprint(1)) == [2, 1]
    stored[1].flush()
    assert DocumentBands(stored[0], stored[1], 12).near(DOMAIN, fingerprint(1)) == [2, 1]
    assert DocumentBands(stored[0], stored[1], 0).near(DOMAIN, fingerprint(1)) == [2]


def test_fingerprints_are_not_forgotten_before_they_are_committed(bands, stored):
    for page in range(1, 40):
        keep(bands, stored, page, fingerprint(page))
        assert all(bands.near(DOMAIN, fingerprint(one)) == [one] for one in range(1, page + 1))


def test_changed_document_is_found_by_its_current_and_previous_text(bands, stored):
    keep(bands, stored, 1, fingerprint(1))
    keep(bands, stored, 1, fingerprint(2))
    for _ in range(2):
        assert bands.near(DOMAIN, fingerprint(1)) == bands.near(DOMAIN, fingerprint(2)) == [1]
        stored[1].flush()
        bands = DocumentBands(stored[0], stored[1], 12)
