"""Turns an HTTP response into a `Page` with its links."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlers.algorithms.retries import REST_STATUSES, retry_after_s
from crawlers.algorithms.traps.trap_watch import content_signature
from crawlers.algorithms.urls.keys import content_hash
from crawlers.algorithms.urls.resolution import site_of
from crawlers.errors import BadUrl
from crawlers.extraction.html import ParsedPage, parse_page
from crawlers.extraction.link_places import LinkPlaces
from crawlers.items import BadLink, ExternalLink, Page, State, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crawlers.algorithms.urls.link_resolver import LinkResolver
    from crawlers.algorithms.urls.redirect_targets import Redirect
    from crawlers.algorithms.urls.scope import Scope

VALIDATOR_CHARS = 500  # of an ETag or date; the rest is cut off


@dataclass(frozen=True, slots=True)
class WebResponse:
    """The response to a request; header values are text, or None if the header is missing."""

    url: str
    status: int
    body: bytes
    content_type: str | None = None
    redirect: Redirect | None = None
    retry_after: str | None = None
    is_truncated: bool = False  # the body ended before its announced length
    etag: str | None = None
    last_modified: str | None = None
    is_conditional: bool = False  # the request had validators of the previous visit


@dataclass(frozen=True, slots=True)
class ResponseReader:
    """Reads the responses of sites. *tags* are the elements whose links count, *types* the content types of pages.

    With *groups*, a page can return the group of each of its links. Links to other sites in *scope* are not external.
    *analysis* is called with each page, its parsed HTML, the targets of its links by raw href, and its text.
    """

    resolver: LinkResolver
    tags: frozenset[str]
    types: frozenset[str]
    groups: bool = False
    scope: Scope | None = None
    analysis: Callable[[Page, ParsedPage, Mapping[str, Target | BadUrl], str], None] | None = None

    def read(self, answer: WebResponse, page_id: int, level: int, now: float) -> Page:
        """Return the page, with its links sorted into internal, external and bad ones. Never raises."""
        page = page_of(answer, page_id, level, State.REFUSED)
        if answer.status == 304 and answer.is_conditional:
            page.state = State.DONE
            page.is_unchanged = True
        elif answer.redirect is not None:
            self._redirect(page, answer.redirect)
        elif answer.status != 200:
            page.reason = f"status {answer.status}"
            if answer.status in REST_STATUSES:
                page.retry_after_s = retry_after_s(answer.retry_after, now)
        elif not self.is_html(answer.content_type):
            page.reason = f"content type {page.content_type}" if page.content_type else "no content type"
        else:
            page.state = State.DONE
            self._parse(page, answer)
        return page

    def is_html(self, content_type: str | None) -> bool:
        """Return whether *content_type* is that of a page.

        A missing type is not: a browser would sniff it, but the graphs of RCCrawler ignore such pages.
        """
        return (content_type or "").partition(";")[0].strip().lower() in self.types

    def site(self, url: str) -> str:
        """Return the site of *url*, as for links: the host name if an IP address stands for one."""
        target = self.resolver.directory(url)[""]
        return target.site if isinstance(target, Target) else site_of(url)

    def _redirect(self, page: Page, redirect: Redirect) -> None:
        target = redirect.target
        if target is None:
            page.reason = redirect.problem
        elif target.site != self.site(page.url) and not self.holds(target.site):
            page.reason = f"redirects to another site: {target.url}"
            page.external.append((ExternalLink(target.url, target.key, target.site, "", "", "", "", "redirect"), 1))
        else:
            page.state = State.MOVED
            page.moved_to = target

    def holds(self, site: str) -> bool:
        """Return whether *site* is in the scope of the crawl."""
        return self.scope is not None and self.scope.holds(site)

    def _parse(self, page: Page, answer: WebResponse) -> None:
        parsed = parse_page(answer.body, answer.content_type, self.tags)
        page.title = parsed.title
        page.canonical = parsed.canonical[:2000]
        page.content_hash = content_hash(answer.body)
        targets = self._targets(answer.url, parsed)
        self._sort_links(page, parsed, targets)
        if self.groups:
            page.group_of = LinkPlaces(parsed, targets).group_of
        text = parsed.text()
        page.content_signature = content_signature(text)
        if self.analysis is not None:
            self.analysis(page, parsed, targets, text)
        if answer.is_truncated:
            page.reason = "the body ended early"

    def _targets(self, url: str, parsed: ParsedPage) -> Mapping[str, Target | BadUrl]:
        base = self.resolver.directory(url)
        if parsed.base is not None:
            target = base[parsed.base]
            if isinstance(target, Target):  # otherwise the <base> is invalid, and ignored as in browsers
                return self.resolver.directory(target.url, parsed.charset)
        return self.resolver.directory(url, parsed.charset)

    def _sort_links(self, page: Page, parsed: ParsedPage, targets: Mapping[str, Target | BadUrl]) -> None:
        here = self.site(page.url)
        outside: set[str] = set()
        for href, count in Counter(parsed.hrefs).items():
            target = targets[href]
            if isinstance(target, BadUrl):
                page.bad.append(BadLink(href[:2000], str(target)))
            elif target.site == here:
                page.links.append((target, count))
            elif self.holds(target.site):
                page.cross_site_links.append((target, count))
            else:
                outside.add(href)
        if outside:  # only external links need the texts around them
            for index, href in enumerate(parsed.hrefs):
                if href in outside:
                    link = parsed.link(index)
                    target = targets[href]
                    assert isinstance(target, Target)
                    texts = (link.anchor, link.context, link.position, link.rel, link.tag)
                    page.external.append((ExternalLink(target.url, target.key, target.site, *texts), 1))


def page_of(answer: WebResponse, page_id: int, level: int, state: State) -> Page:
    """Return a page with the values of the status line and headers of *answer*."""
    return Page(
        page_id,
        answer.url,
        level,
        state,
        answer.status,
        content_type=(answer.content_type or "")[:200],
        size_bytes=len(answer.body),
        etag=(answer.etag or "")[:VALIDATOR_CHARS],
        last_modified=(answer.last_modified or "")[:VALIDATOR_CHARS],
    )
