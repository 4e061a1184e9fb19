"""Which articles of a news crawl become documents, and which are copies of one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crawlers.algorithms.dedup.document_fingerprints import domain_of, url_key128
from crawlers.algorithms.url_rules.url_tokens import look_alike, target_of_url
from crawlers.algorithms.urls.domains import rule_domain
from crawlers.algorithms.urls.resolution import resolve, site_of
from crawlers.errors import BadUrl
from crawlers.items import DUPLICATE
from crawlers.storage.news.document_copies import SAME_CANONICAL, SAME_TEXT
from crawlers.storage.news.documents import EARLIER, add_document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlers.algorithms.news.url_classifier import UrlClassifier
    from crawlers.frontier.protocols import Lease
    from crawlers.items import Page, Target
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

    def is_known(self, page: Page) -> str:
        """Why the article of a page need not be taken out of it: a document was made of the same bytes. Or ""."""
        holder = self._duplicates.same_bytes(page.id, page.url, page.content_hash)
        if holder is None:
            return ""
        assert page.news is not None
        page.news.is_detour = self._is_detour(page, holder)
        return f"same bytes as document {holder}"

    def judge(self, lease: Lease, page: Page, changes: ChangeSet, now: float) -> None:
        """Add the rows of the article of *page*, if it has one, to *changes*, and note the outcome in its `news`."""
        news = page.news
        if news is None or news.article is None:
            return
        article = news.article
        copy = self._duplicates.judge(lease.id, page.url, article, changes, news.fingerprint, page.content_hash)
        if copy is not None:
            news.outcome, news.reason = DUPLICATE, f"{copy.reason} as document {copy.page_id}"
            news.is_detour = copy.reason in (SAME_CANONICAL, SAME_TEXT) and self._is_detour(page, copy.page_id)
            return
        if not article.language:
            article = replace(article, language=self._languages.get(rule_domain(site_of(page.url)), ""))
        where = (lease.id, lease.site_id, page.url, article, news.fingerprint, now)
        news.outcome = add_document(self._database, changes, *where, is_revisit=lease.is_revisit)

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
