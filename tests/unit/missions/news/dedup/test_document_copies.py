"""Copies within a domain are not stored, and different documents are never taken for copies."""

import random
from dataclasses import replace

import pytest
from sqlalchemy import text

from crawlers.missions.news.dedup.document_copies import Duplicates
from crawlers.missions.news.dedup.document_fingerprints import document_fingerprint
from crawlers.missions.news.news_items import Article
from crawlers.missions.news.stored.news_tables import DocumentRow
from crawlers.reasons import Reason
from crawlers.store.writing.change_set import ChangeSet
from crawlers.store.writing.writer import Writer
from tests.support.executed_statements import statements
from tests.support.stored_rows import execute

pytestmark = pytest.mark.both_stores

SITE = "https://www.example.org"
RNG = random.Random(1)
WORDS = ["".join(RNG.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(RNG.randrange(3, 9))) for _ in range(600)]


def prose(seed, count=160):
    return " ".join(random.Random(seed).choices(WORDS, k=count))


def article(seed=1, canonical="", **changes):
    return replace(Article(f"Title {seed}", prose(seed), None, "", (), "", "en", canonical, "", "rule"), **changes)


class Crawl:
    """Pages that are judged and stored as in the pipeline."""

    def __init__(self, database):
        self._database = database
        self._pages = 0
        self.most_uncommitted = 1_000
        self.begin()

    def begin(self):
        """Start like a new process."""
        self._writer = Writer(self._database)
        self.duplicates = Duplicates(self._database, self._writer, self.most_uncommitted)

    def end(self):
        self._writer.close()

    def flush(self):
        self._writer.flush()

    def begin_anew(self):
        """Forget all documents."""
        self.end()
        for table in ("document", "document_key", "document_band"):
            execute(self._database, text(f"DELETE FROM {table}"))
        self._pages = 0
        self.begin()

    def resume(self):
        self.end()
        self.begin()

    def look_up(self, url, article, page_id):
        """Return the look-up for an article that is judged later."""
        fingerprint = document_fingerprint(url, article)
        return self.duplicates.look_up(self.duplicates.snapshot, page_id, fingerprint)

    def judge(self, url, article, page_id=None, *, copies=None):
        """Return why it is a copy, or the number of the new document; *copies* is the result of an earlier look-up."""
        self._pages += 1
        page = page_id or self._pages
        changes = ChangeSet()
        fingerprint = document_fingerprint(url, article)
        copy = self.duplicates.judge(page, url, article, changes, fingerprint, copies)
        if copy is None:
            row = (page, 1, url, None, article.title, article.text, None, None, "[]", None, None, None, "rule")
            changes.add(DocumentRow(*row, fingerprint.text_hash, 1, 0.0, None))
        self._writer.submit(changes)
        return page if copy is None else copy

    def documents(self):
        self._writer.flush()
        return self._database.scalars(text("SELECT page_id FROM document ORDER BY page_id"))


@pytest.fixture
def crawl(sqlite):
    crawl = Crawl(sqlite)
    yield crawl
    crawl.end()


def reprinted(seed=1):
    words = prose(seed).split()
    words[20], words[90] = "changed", "words"
    del words[140]
    return article(seed, text=" ".join(words), title="Another headline")


def corrected(seed=1):
    """Return the article with a date line, another lead, without its end, and with a note."""
    words = prose(seed).split()
    text = f"Bern, 23 November 2026, 10:45 - {prose(99, 15)} {' '.join(words[15:130])} Correction: it was 300, not 45."
    return article(seed, text=text, title="Another headline")


COPIES = [
    (f"{SITE}/a?utm_source=rss", article(2), Reason.SAME_URL),
    ("http://example.org/a", article(2), Reason.SAME_URL),
    ("https://m.example.org/b", article(1, f"{SITE}/a", text=prose(1)[:600]), Reason.SAME_CANONICAL),
    (f"{SITE}/print/a", article(1, title="Print"), Reason.SAME_TEXT),
    (f"{SITE}/print/a", article(1, text=prose(1).upper().replace(" ", " - ")), Reason.SAME_TEXT),
    ("https://sport.example.org/a", reprinted(), Reason.NEARLY_SAME_TEXT),
    ("https://sport.example.org/b", corrected(), Reason.NEARLY_SAME_TEXT),
]


@pytest.mark.parametrize("in_flight", [False, True], ids=["one after the other", "in flight together"])
@pytest.mark.parametrize("committed", [False, True], ids=["at once", "later"])
@pytest.mark.parametrize(("url", "found", "reason"), COPIES, ids=[f"{c[2]} {n}" for n, c in enumerate(COPIES)])
def test_copy_is_recognised(crawl, committed, in_flight, url, found, reason):
    pages = [(f"{SITE}/a", article(1)), (url, found)]
    first, second = (
        crawl.look_up(*page, page_id=number) if in_flight else None for number, page in enumerate(pages, 1)
    )
    assert crawl.judge(*pages[0], copies=first) == 1
    if committed:
        crawl.flush() if in_flight else crawl.resume()
    assert crawl.judge(*pages[1], copies=second) == reason.of(1)
    assert crawl.documents() == [1]


LOOK_ALIKES = [
    (f"{SITE}/b", article(2)),
    ("https://www.example.com/a", article(1)),  # another domain
    (f"{SITE}/b", article(2, f"{SITE}/a")),  # a wrong canonical URL
    (f"{SITE}/b", article(2, title="Title 1")),
    (f"{SITE}/b", article(1, text=" ".join(prose(1).split()[:80] + prose(2).split()[:80]))),
]


@pytest.mark.parametrize("committed", [False, True], ids=["at once", "later"])
@pytest.mark.parametrize(("url", "found"), LOOK_ALIKES, ids=range(len(LOOK_ALIKES)))
def test_similar_page_is_a_document(crawl, committed, url, found):
    crawl.judge(f"{SITE}/a", article(1))
    if committed:
        crawl.resume()
    assert crawl.judge(url, found) == 2
    assert crawl.documents() == [1, 2]


def test_canonical_page_that_is_found_after_its_copy_is_the_copy(crawl):
    assert crawl.judge(f"{SITE}/amp/a", article(1, f"{SITE}/a")) == 1
    assert crawl.judge(f"{SITE}/a", article(1, f"{SITE}/a", text=prose(1)[:700])) == Reason.SAME_URL.of(1)


def test_copy_that_became_a_document_stays_one(crawl):
    crawl.judge(f"{SITE}/a", article(1))
    assert crawl.judge(f"{SITE}/b", article(1), page_id=2) == Reason.SAME_TEXT.of(1)
    assert crawl.judge(f"{SITE}/b", article(2), page_id=2) == 2
    for _ in range(2):
        assert crawl.judge(f"{SITE}/b", reprinted(2), page_id=2) == 2  # nearly the same as itself
        assert crawl.judge(f"{SITE}/b", article(1), page_id=2) == 2
        crawl.resume()
    assert crawl.documents() == [1, 2]


def test_article_is_judged_without_a_statement_if_it_was_looked_up_before(crawl, sqlite):
    for number in range(1, 6):
        crawl.judge(f"{SITE}/{number}", article(number))
    crawl.resume()
    pages = [(f"{SITE}/new", article(9)), (f"{SITE}/copy", article(2)), (f"{SITE}/near", reprinted(3))]
    looked_up = [crawl.look_up(*page, page_id=6 + n) for n, page in enumerate(pages)]
    with statements(sqlite) as executed:
        outcomes = [crawl.judge(*page, copies=copies) for page, copies in zip(pages, looked_up, strict=True)]
    assert outcomes == [6, Reason.SAME_TEXT.of(2), Reason.NEARLY_SAME_TEXT.of(3)]
    assert executed == []


@pytest.mark.parametrize("seed", range(4))
def test_time_of_the_look_up_does_not_change_the_result(crawl, seed):
    """Half of the look-ups are outdated: the documents that they lack were committed and forgotten in the meantime."""
    crawl.most_uncommitted = 3
    rng = random.Random(seed)
    pages = []
    for number in range(60):
        text = rng.randrange(1, 12)
        url = f"{SITE}/{rng.choice([number, text])}{rng.choice(['', '?from=rss'])}"
        pages.append((url, rng.choice([article(text), article(text, f"{SITE}/{text}"), reprinted(text)])))
    crawl.resume()  # with the small memory
    at_once = [crawl.judge(*page) for page in pages]
    assert {type(outcome) for outcome in at_once} == {int, str}
    crawl.begin_anew()
    looked_up = {}
    outcomes = []
    for number, page in enumerate(pages):
        for ahead in range(number, min(number + rng.randrange(1, 9), len(pages))):
            looked_up.setdefault(ahead, crawl.look_up(*pages[ahead], page_id=ahead + 1))
        outcomes.append(crawl.judge(*page, copies=looked_up[number]))
        if rng.random() < 0.2:
            crawl.flush()
    assert outcomes == at_once
