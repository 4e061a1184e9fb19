"""Decides which articles become documents, and which are copies; reads and writes documents, with their versions."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, select, tuple_

from crawlers.missions.news.dedup.document_fingerprints import domain_of, url_key128
from crawlers.missions.news.news_items import CHANGED, DUPLICATE, NEW, news_of
from crawlers.missions.news.stored.news_tables import DocumentRow, DocumentVersionRow, document, document_key, feed_item
from crawlers.plurals import counted
from crawlers.reasons import Reason
from crawlers.store.schema.tables import site
from crawlers.urls.domains import rule_domain
from crawlers.urls.resolution import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crawlers.frontier.values import Lease
    from crawlers.items import Page, Target
    from crawlers.missions.news.dedup.document_copies import Duplicates, StoredCopies
    from crawlers.missions.news.news_items import Article, DocumentFingerprint, News
    from crawlers.missions.news.urls.url_classifier import UrlClassifier
    from crawlers.store.database import Database
    from crawlers.store.writing.change_set import ChangeSet


DAY_S = 86_400.0


class StoredArticle(NamedTuple):
    """The stored facts about the article on a page, when its extraction ends."""

    copies: StoredCopies
    previous: DocumentRow | None  # the document that the page is already
    announced_at: float | None = None  # when it was published according to feeds


class ArticlePolicy:
    """Finds copies with *duplicates*, among the documents in *database*.

    *languages* are the languages of sources by domain, for articles that do not state theirs; *page_at* returns the
    number of the article at a URL that was found before, if its key is not the one given. *earlier* returns the
    document that an earlier crawl has at a URL, if any, which is not fetched again; *classifier* recognises articles.

    The queries that it returns run in another thread, so that the reactor does not wait for the store.
    """

    def __init__(
        self,
        classifier: UrlClassifier,
        duplicates: Duplicates,
        database: Database,
        languages: Mapping[str, str],
        page_at: Callable[[str, int], int | None],
        earlier: Callable[[str], int | None] | None = None,
    ) -> None:
        self._page_at = page_at
        self._classifier = classifier
        self._duplicates = duplicates
        self._database = database
        self._languages = languages
        self._earlier = earlier
        self._looked_up: tuple[int, int | None] = (0, None)  # the lease that waits for its query, and what was found

    def reason_against(self, target: Target) -> str | None:
        """Return why a new URL must not be fetched: its page was found at another URL."""
        original = original_url(target.url)
        page = self._page_at(original, target.key) if original != target.url else None
        return None if page is None else Reason.SAME_URL.of(page)

    def reason_to_skip(self, lease: Lease) -> str | Callable[[], Callable[[], None]] | None:
        """Return why a leased URL must not be requested: an earlier crawl has its document; or the query for it."""
        earlier = self._earlier
        if earlier is None or lease.is_revisit or self._classifier.weight(site_of(lease.url), lease.url) <= 0.0:
            return None
        if self._looked_up[0] == lease.id:
            holder = self._looked_up[1]
            return None if holder is None else Reason.STORED_EARLIER.of(holder)

        def read() -> Callable[[], None]:
            holder = earlier(lease.url)

            def take_up() -> None:
                self._looked_up = lease.id, holder

            return take_up

        return read

    def look_up(self, lease: Lease, page: Page) -> Callable[[], StoredArticle] | None:
        """Return the query for `judge`; None if the page has no article."""
        news = news_of(page)
        if news is None or news.fingerprint is None:
            return None
        look_up = partial(self._duplicates.look_up, self._duplicates.snapshot, lease.id, news.fingerprint)
        is_undated = news.article is not None and news.article.published_at is None

        def read() -> StoredArticle:
            previous = stored_document(self._database, lease.id) if lease.is_revisit else None
            announced_at = earliest_announcement(self._database, lease.key) if is_undated else None
            return StoredArticle(look_up(), previous, announced_at)

        return read

    def judge(
        self,
        lease: Lease,
        page: Page,
        news: News,
        changes: ChangeSet,
        now: float,
        stored: StoredArticle | None = None,
    ) -> News:
        """Return *news* of *page* with the outcome; the rows of the document, if it is one, are added to *changes*.

        *stored* is the result of `look_up`; without it the store is read at once.
        """
        article, fingerprint = news.article, news.fingerprint
        if article is None or fingerprint is None:
            return news
        if stored is None:
            stored = read() if (read := self.look_up(lease, page)) is not None else None
        copies, previous, announced_at = stored or (None, None, None)
        reason = self._duplicates.judge(lease.id, page.url, article, changes, fingerprint, copies)
        if reason is not None:
            return replace(news, outcome=DUPLICATE, reason=reason)
        if not article.language:
            article = replace(article, language=self._languages.get(rule_domain(site_of(page.url)), ""))
        if article.published_at is None and announced_at is not None:
            day, is_day = datetime.fromtimestamp(announced_at, UTC), announced_at % DAY_S == 0
            published = f"{day:%Y-%m-%d}" if is_day else day.isoformat(timespec="seconds")
            article = replace(article, published_at=announced_at, published=published)
        row = add_document(changes, lease.id, lease.site_id, page.url, article, fingerprint, now, previous)
        if row is None:
            return news
        outcome = NEW if row.version == 1 else CHANGED
        stored_at = row.changed_at or row.stored_at
        return replace(news, article=article, outcome=outcome, version=row.version, stored_at=stored_at)


# Other forms of an article: for printers, or for AMP.
_FORMS = re.compile(
    r"(?<=[?&])(?:amp|print(?:able)?)(?:=(?:1|true|yes|y)?)?(?:&|\Z)|(?<=[^/]/)(?:amp|print)(?:/|\Z|(?=\?))", re.I
)
_IDLE = re.compile(r"[?&]+\Z")  # what is left of a query


def original_url(url: str) -> str:
    """Return the URL of the page of which *url* is another form, or *url* itself.

    >>> original_url("https://a.example/news/17/print/?print=1")
    'https://a.example/news/17/'
    """
    return _IDLE.sub("", _FORMS.sub("", url))


def stored_document(database: Database, page_id: int) -> DocumentRow | None:
    """Return the document on a page; None if the page is not a document."""
    rows = database.rows(select(document).where(document.c.page_id == page_id))
    return DocumentRow(*rows[0]) if rows else None


def earliest_announcement(database: Database, key: int) -> float | None:
    """Return when feeds say that the page with the URL key *key* was published; None if none does."""
    earliest: float | None = database.scalar(select(func.min(feed_item.c.published_at)).where(feed_item.c.key == key))
    return earliest


def add_document(
    changes: ChangeSet,
    page_id: int,
    site_id: int,
    url: str,
    article: Article,
    fingerprint: DocumentFingerprint,
    now: float,
    previous: DocumentRow | None,
) -> DocumentRow | None:
    """Add the rows of a page's document to *changes*; return its row, or None if it did not change.

    The *previous* content is stored as a version.
    """
    text_hash = fingerprint.text_hash
    version, stored_at, changed_at = 1, now, None
    if previous is not None:
        if previous.text_hash == text_hash and previous.title == article.title:
            return None
        version, stored_at, changed_at = previous.version + 1, previous.stored_at, now
        since = previous.changed_at or previous.stored_at
        kept = (page_id, previous.version, previous.title, previous.text, previous.published_at, since)
        changes.add(DocumentVersionRow(*kept))
    stated: dict[str, Any] = {name: None if value == "" else value for name, value in asdict(article).items()}
    stated["canonical"] = stated.pop("canonical_url")
    stated["authors"] = json.dumps(article.authors, ensure_ascii=False)
    stated["keywords"] = json.dumps(article.keywords, ensure_ascii=False) if article.keywords else None
    about: dict[str, Any] = {"page_id": page_id, "site_id": site_id, "url": url, "text_hash": text_hash}
    new = DocumentRow(**about, version=version, stored_at=stored_at, changed_at=changed_at, **stated)
    changes.add(new)
    return new


def earlier_documents(database: Database, crawl_id: int) -> Callable[[str], int | None] | None:
    """Return a query for the page of the document that another crawl has at a URL; None if there are no such crawls."""
    others = select(document.c.page_id).join(site, site.c.id == document.c.site_id).where(site.c.crawl_id != crawl_id)
    if not database.rows(others.limit(1)):
        return None
    held = others.join(document_key, document_key.c.page_id == document.c.page_id)

    def at(url: str) -> int | None:
        key = url_key128(domain_of(url), url)
        found = database.rows(held.where(tuple_(document_key.c.high, document_key.c.low) == key).limit(1))
        return found[0].page_id if found else None

    return at


def documents_found(database: Database, crawl_id: int) -> str:
    """Return the number of documents of a crawl, for people."""
    statement = (
        select(func.count())
        .select_from(document)
        .join(site, site.c.id == document.c.site_id)
        .where(site.c.crawl_id == crawl_id)
    )
    return counted(database.scalar(statement), "document")
