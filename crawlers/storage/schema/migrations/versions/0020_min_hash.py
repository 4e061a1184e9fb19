"""Near-duplicates are found by min-hashes instead of simhashes. Frozen, like every migration: whoever changes how bands
are made writes all of them again in a later one.
"""

from __future__ import annotations

import re
import struct
import unicodedata

import can_ada
import numpy as np
import sqlalchemy as sa
import tldextract
import xxhash
from alembic import op

revision = "0020"
down_revision = "0019"

BATCH = 1_000  # documents, some 5 MB of texts
BANDS = 12
SHINGLE_WORDS = 5
FEW_WORDS = 50  # shorter texts are compared together with their title
MULTIPLIER = 0x9E37_79B9_7F4A_7C15
FACTORS = (0xFF51_AFD7_ED55_8CCD, 0xC4CE_B9FE_1A85_EC53)
UNSPACED = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")


def upgrade() -> None:
    """Write the bands of all documents anew, some 500 documents a second."""
    op.drop_table("document_band")
    op.create_table(
        "document_band",
        sa.Column("band", sa.BigInteger(), autoincrement=False, primary_key=True),
        sa.Column("page_id", sa.BigInteger(), autoincrement=False, primary_key=True),
        sqlite_with_rowid=False,
    )
    op.execute("ALTER TABLE document DROP COLUMN simhash")
    connection = op.get_bind()
    document = sa.table("document", *map(sa.column, ("page_id", "url", "title", "text")))
    band = sa.table("document_band", sa.column("band"), sa.column("page_id"))
    some = sa.select(document).order_by(document.c.page_id).limit(BATCH)
    suffixes = tldextract.TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)
    last = -1
    while rows := connection.execute(some.where(document.c.page_id > last)).all():
        found = [
            {"band": one, "page_id": row.page_id}
            for row in rows
            for one in _bands(_domain(row.url, suffixes), _compared(row.title, row.text))
        ]
        if found:
            connection.execute(sa.insert(band), found)
        last = rows[-1].page_id


def _domain(url: str, suffixes: tldextract.TLDExtract) -> str:
    authority = can_ada.parse(url).origin.partition("://")[2]
    return (suffixes(authority).top_domain_under_public_suffix or authority).removeprefix("www.")


def _compared(title: str, text: str) -> list[str]:
    found = _words(text)
    return found if len(found) >= FEW_WORDS else [*_words(title), *found]


def _words(text: str) -> list[str]:
    return WORD.findall(unicodedata.normalize("NFKC", text.replace("\xad", "")).casefold())


def _bands(domain: str, words: list[str]) -> set[int]:
    """Return the least hash of the shingles in each band, hashed with the domain."""
    numbers = np.array([_hash(word) for word in words], dtype=np.uint64)
    count = min(SHINGLE_WORDS, len(words))
    hashes = np.zeros(len(words) - count + 1 if words else 0, dtype=np.uint64)
    for start in range(count):
        hashes = hashes * np.uint64(MULTIPLIER) + numbers[start : start + len(hashes)]
    for factor in FACTORS:
        hashes = (hashes ^ (hashes >> np.uint64(33))) * np.uint64(factor)
    hashes = np.sort(hashes ^ (hashes >> np.uint64(33)))
    places = np.searchsorted(hashes, np.arange(BANDS, dtype=np.uint64) * np.uint64((1 << 64) // BANDS))
    least = np.unique(hashes[places[places < len(hashes)]])
    found = (xxhash.xxh3_64_intdigest(struct.pack("<Q", one), _hash(domain)) for one in least.tolist())
    return {one - (one >> 63 << 64) for one in found}


def _hash(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))
