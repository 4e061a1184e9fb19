"""Which articles of a news crawl become documents, and which are copies of one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crawlers.algorithms.dedup.document_fingerprints import domain_of, url_key128
from crawlers.algorithms.url_rules.url_tokens import look_alike, target_of_url
from crawlers.algorithms.urls.domains import rule_domain
from crawlers.algorithms.urls.resolution import resolve, site_of
from crawlers.errors import BadUrl
from crawlers.items import CHANGED, DUPLICATE, NEW, KnownCopy
from crawlers.storage.news.document_copies import SAME_CANONICAL, SAME_TEXT
from crawlers.storage.news.documents import EARLIER, add_document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlers.algorithms.news.url_classifier import UrlClassifier
    from crawlers.frontier.protocols import Lease
    from crawlers.items import News, Page, Target
    from crawlers.storage.change_set import ChangeSet
    from crawlers.storage.database import Database
    from crawlers.storage.news.document_copies import Duplicates


class ArticlePolicy:
    """Decides with *duplicates*, of the documents in *database*.

    *languages* has those of sources by domain, for articles that name none. *has_earlier*: the store has documents of
    other crawls, whose articles, by *rulebook*, are not fetched again.
    """

    def __init__(
        self,
        classifier: UrlClassifier,
        duplicates: Duplicates,
        database: Database,
        languages: Mapping[str, str],
        *,
        has_earlier: bool,
    ) -> None:
        self._classifier = classifier
        self._duplicates = duplicates
        self._database = database
        self._languages = languages
        self._has_earlier = has_earlier

    def reason_against(self, target: Target) -> str | None:
        """Why a new URL is not to be fetched: an earlier crawl has its document."""
        if not self._has_earlier or self._classifier.weight(target.site, target.url) <= 0.0:
            return None
        holder = self._duplicates.holder(target.url, domain_of(target.url))
        return None if holder is None else EARLIER.format(holder)

    def copy_of(self, page: Page) -> KnownCopy | None:
        """Return the document that was made of the same bytes as *page*, so that no article need be extracted."""
        document = self._duplicates.same_bytes(page.id, page.url, page.content_hash)
        if document is None:
            return None
        return KnownCopy(f"same bytes as document {document}", self._is_detour(page, document))

    def judge(self, lease: Lease, page: Page, news: News, changes: ChangeSet, now: float) -> News:
        """Return *news* of *page* with the outcome; the rows of the document, if it is one, are added to *changes*."""
        article, fingerprint = news.article, news.fingerprint
        if article is None or fingerprint is None:
            return news
        copy = self._duplicates.judge(lease.id, page.url, article, changes, fingerprint, page.content_hash)
        if copy is not None:
            is_detour = copy.reason in (SAME_CANONICAL, SAME_TEXT) and self._is_detour(page, copy.page_id)
            reason = f"{copy.reason} as document {copy.page_id}"
            return replace(news, outcome=DUPLICATE, reason=reason, is_detour=is_detour)
        if not article.language:
            article = replace(article, language=self._languages.get(rule_domain(site_of(page.url)), ""))
        where = (lease.id, lease.site_id, page.url, article, fingerprint, now)
        document = add_document(self._database, changes, *where, is_revisit=lease.is_revisit)
        if document is None:
            return news
        outcome = NEW if document.version == 1 else CHANGED
        stored_at = document.changed_at or document.stored_at
        return replace(news, article=article, outcome=outcome, version=document.version, stored_at=stored_at)

    def _is_detour(self, page: Page, document: int) -> bool:
        """Whether *page* is but another way to a *document* of its site, by a URL that looks otherwise.

        Not if the page calls itself the right one: its copy was met before it. Other sites of the domain may print
        an article again.
        """
        first = self._duplicates.url_of(document)
        if not first or site_of(first) != site_of(page.url) or look_alike(*map(target_of_url, (first, page.url))):
            return False
        try:
            right = resolve(page.url, page.canonical).url if page.canonical else first
        except BadUrl:
            right = first
        domain = domain_of(page.url)
        return url_key128(domain, page.url) not in (url_key128(domain, first), url_key128(domain, right))
