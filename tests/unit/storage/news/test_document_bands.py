"""The candidates for a text are the documents with the same bands."""

import random

import pytest

from crawlers.algorithms.dedup.min_hash import bands as bands_of
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.news.document_copies import DocumentBands
from crawlers.storage.writer import Writer

pytestmark = pytest.mark.both_stores

DOMAIN = "example.org"


def made(seed, edits=0, domain=DOMAIN):
    """Return the bands of a text of 200 words, the first of which may be edited."""
    rng = random.Random(seed)
    words = [f"w{rng.randrange(500)}" for _ in range(200)]
    return bands_of(domain, [*(f"edit{n}" for n in range(edits)), *words[edits:]])


@pytest.fixture
def stored(database):
    writer = Writer(database)
    yield database, writer
    writer.close()


@pytest.fixture
def bands(stored):
    return DocumentBands(*stored, most_uncommitted=5)


def keep(bands, stored, page, kept):
    changes = ChangeSet()
    bands.keep(kept, page, changes)
    stored[1].submit(changes)


def test_bands_are_not_forgotten_before_they_are_committed(bands, stored):
    for page in range(1, 16):
        keep(bands, stored, page, made(page))
        assert all(bands.candidates(made(one)) == [one] for one in range(1, page + 1))
