"""Decides which articles of a news crawl become documents, and which are copies."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from crawlers.missions.news.dedup.url_variants import original_url
from crawlers.missions.news.news_items import CHANGED, DUPLICATE, NEW, news_of
from crawlers.missions.news.stored.documents import add_document, earliest_announcement, stored_document
from crawlers.reasons import Reason
from crawlers.urls.domains import rule_domain
from crawlers.urls.resolution import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crawlers.frontier.values import Lease
    from crawlers.items import Page, Target
    from crawlers.missions.news.dedup.document_copies import Duplicates, StoredCopies
    from crawlers.missions.news.news_items import News
    from crawlers.missions.news.stored.news_tables import DocumentRow
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
        document = add_document(changes, lease.id, lease.site_id, page.url, article, fingerprint, now, previous)
        if document is None:
            return news
        outcome = NEW if document.version == 1 else CHANGED
        stored_at = document.changed_at or document.stored_at
        return replace(news, article=article, outcome=outcome, version=document.version, stored_at=stored_at)
