"""Turns an HTTP response into a `Page`: its state, its texts and its links; what it shows of these is computed later.

Of some 70 links of a page, 6 lead to new pages. The first link to each target counts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from crawlers.errors import BadUrl
from crawlers.items import REDIRECT, BadLink, ExternalLink, Page, State, Target
from crawlers.pages.html import ParsedPage, parse_page
from crawlers.pages.retries import REST_STATUSES, retry_after_s
from crawlers.reasons import Reason, code_of
from crawlers.urls.keys import content_hash
from crawlers.urls.resolution import site_of, without_credentials
from crawlers.urls.trap_watch import content_signature, may_be_endless

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping

    from crawlers.urls.link_resolver import LinkResolver
    from crawlers.urls.resolution import Redirect
    from crawlers.urls.scope import Scope

    ReadInThread = Callable[[Callable[[], Page]], Awaitable[Page]]

CONTENT_TYPE_CHARS = 200  # of a Content-Type; longer ones are cut
LARGE_BYTES = 500_000  # of a page that is to be read in another thread: 20,000 links take 0.2 s
VALIDATOR_CHARS = 500  # of an ETag or a date; longer ones are cut
MAX_READ = 1_000_000  # pages, some 60 bytes each; texts of links to further pages are stored until the crawl ends


@dataclass(frozen=True, slots=True)
class WebResponse:
    """The response to a request for a URL; header values as text, None where the header is missing."""

    url: str
    status: int
    body: bytes
    content_type: str | None = None
    redirect: Redirect | None = None
    retry_after: str | None = None
    is_truncated: bool = False  # the body ended before its announced length
    etag: str | None = None
    last_modified: str | None = None
    latency_s: float | None = None  # from the request to the head of the response
    robots_tag: str | None = None  # X-Robots-Tag
    is_conditional: bool = False  # the request was for the case that the page changed since the last visit


@dataclass(frozen=True, slots=True)
class ResponseReader:
    """Reads the responses of sites. The links of *tags* count; *types* are the content types of pages.

    With *read_pages*, the keys of the pages that were read, to which it adds, pages know the texts of their links to
    other pages. Links to other sites in *scope* are not external. *analysis* returns each page with the results of an
    analysis; it receives the page, its parsed document, and the targets of its links by their raw text.

    Unless an analysis keeps the tree of a page, the next one takes its place in the cache of the processor.
    """

    resolver: LinkResolver
    tags: frozenset[str]
    types: frozenset[str]
    read_pages: set[int] | None = None
    scope: Scope | None = None
    analysis: Callable[[Page, ParsedPage, Mapping[str, Target | BadUrl]], Page] | None = None

    def read(self, response: WebResponse, page_id: int, level: int, now: float) -> Page:
        """Return the page, with its links sorted into internal, external and bad ones. Never raises."""
        if response.status == 304 and response.is_conditional:
            return page_of(response, page_id, level, State.DONE, is_unchanged=True)
        if response.redirect is not None:
            return self._redirect(response, response.redirect, page_id, level)
        if response.status != 200:
            rests = response.status in REST_STATUSES
            pause_s = retry_after_s(response.retry_after, now) if rests else None
            reason = Reason.STATUS.of(response.status)
            return page_of(response, page_id, level, State.REFUSED, reason=reason, retry_after_s=pause_s)
        if not self.is_html(response.content_type):
            content_type = (response.content_type or "").partition(";")[0].strip()[:CONTENT_TYPE_CHARS]
            reason = Reason.CONTENT_TYPE.of(content_type) if content_type else Reason.NO_CONTENT_TYPE
            return page_of(response, page_id, level, State.REFUSED, reason=reason)
        return self._parse(response, page_id, level)

    def read_or_wait(
        self, response: WebResponse, page_id: int, level: int, now: float, in_thread: ReadInThread
    ) -> Page | Awaitable[Page]:
        """Return the page as `read` does; a large one is read *in_thread*."""
        if len(response.body) < LARGE_BYTES:
            return self.read(response, page_id, level, now)
        reader = replace(self, resolver=self.resolver.fresh())
        return in_thread(lambda: reader.read(response, page_id, level, now))

    def is_html(self, content_type: str | None) -> bool:
        """Return whether *content_type* is that of a page.

        A missing content type is not: browsers would guess it, the graph of RCCrawler ignores it.
        """
        return (content_type or "").partition(";")[0].strip().lower() in self.types

    def site(self, url: str) -> str:
        """Return the site of a page as for its links: an IP address that stands for a host name becomes that name."""
        return _site(self.resolver.directory(url), url)

    def _redirect(self, response: WebResponse, redirect: Redirect, page_id: int, level: int) -> Page:
        if redirect.target is None:
            return page_of(response, page_id, level, State.REFUSED, reason=redirect.problem)
        here = self.site(response.url)
        target = self.resolver.own(redirect.target, here)
        if target.site == here or self.holds(target.site):
            return page_of(response, page_id, level, State.MOVED, moved_to=target)
        link = ExternalLink(target.url, target.key, target.site, "", "", "", "", REDIRECT)
        reason = Reason.REDIRECT_TO_OTHER_SITE.of(target.url)
        return page_of(response, page_id, level, State.REFUSED, reason=reason, external=((link, 1),))

    def holds(self, site: str) -> bool:
        """Return whether *site* is in the scope of the crawl."""
        return self.scope is not None and self.scope.holds(site)

    def _parse(self, response: WebResponse, page_id: int, level: int) -> Page:
        parsed = parse_page(response.body, response.content_type, self.tags)
        targets = own = self.resolver.directory(response.url, parsed.charset)
        here = _site(own, response.url)
        if parsed.base is not None:
            base = self.resolver.directory(response.url)[parsed.base]
            if isinstance(base, Target):  # otherwise the <base> is invalid, and ignored as in browsers
                targets = self.resolver.directory(base.url, parsed.charset, here)
        if self.read_pages is not None and isinstance(own[""], Target) and len(self.read_pages) < MAX_READ:
            self.read_pages.add(own[""].key)
        counts = Counter(parsed.hrefs)
        targets.add(counts)
        links = self._sorted_links(here, parsed, counts, targets)  # before the text, which takes scripts off the tree
        is_signed = may_be_endless(response.url)  # the text takes 6 to 8 % of the CPU of a crawl
        page = page_of(
            response,
            page_id,
            level,
            State.DONE,
            title=parsed.title,
            canonical=without_credentials(parsed.canonical)[:2000],
            content_hash=content_hash(response.body),
            content_signature=content_signature(parsed.text, [response.url, *counts]) if is_signed else 0,
            reason=_reason(response, parsed),
            is_indexable=_may_be_indexed(response, parsed) and _is_canonical(parsed, targets, own[""]),
            **links,
        )
        return page if self.analysis is None else self.analysis(page, parsed, targets)

    def _sorted_links(
        self, here: str, parsed: ParsedPage, counts: Mapping[str, int], targets: Mapping[str, Target | BadUrl]
    ) -> dict[str, Any]:
        """Return the links of a page of the site *here* as fields of the page."""
        links: list[tuple[Target, int]] = []
        first: dict[int, str] = {}  # raw href of the first link within the crawl to each target, by key
        cross_site: list[tuple[Target, int]] = []
        external: list[tuple[ExternalLink, int]] = []
        bad: dict[str, int] = {}
        outside: set[str] = set()
        for href, count in counts.items():
            target = targets[href]
            if isinstance(target, BadUrl):
                bad[href] = count
            elif target.site == here:
                links.append((target, count))
                first.setdefault(target.key, href)
            elif self.holds(target.site):
                cross_site.append((target, count))
                first.setdefault(target.key, href)
            else:
                outside.add(href)
        if outside:  # only external links are stored with the texts around them
            for index, href in enumerate(parsed.hrefs):
                if href in outside:
                    target = targets[href]
                    assert isinstance(target, Target)
                    external.append((ExternalLink(target.url, target.key, target.site, *parsed.link(index)), 1))
        return {
            "links": links,
            "cross_site_links": cross_site,
            "anchors": {} if self.read_pages is None else _anchors(parsed, first, self.read_pages),
            "external": external,
            "bad": self._bad_links(parsed, bad, targets) if bad else (),
        }

    def _bad_links(
        self, parsed: ParsedPage, counts: Mapping[str, int], targets: Mapping[str, Target | BadUrl]
    ) -> list[BadLink]:
        found = []
        for href, count in counts.items():
            target = targets[href]
            assert isinstance(target, BadUrl)
            reason = target.reason
            is_broken = code_of(reason) is not Reason.OTHER_SCHEME  # others, such as mailto, are in no table
            anchor = parsed.anchors([href])[0] if self.read_pages is not None and is_broken else None
            found.append(BadLink(without_credentials(href)[:2000], reason, count, anchor))
        return found


def _anchors(parsed: ParsedPage, first: Mapping[int, str], read: Collection[int]) -> dict[int, str]:
    """Return the texts of the *first* links to pages that may turn out to be broken, by the keys of these pages."""
    hrefs = {key: href for key, href in first.items() if key not in read}
    return dict(zip(hrefs, parsed.anchors(hrefs.values()), strict=True)) if hrefs else {}


def _site(links: Mapping[str, Target | BadUrl], url: str) -> str:
    """Return the site of the page at *url*, which has *links*."""
    own = links[""]
    return own.site if isinstance(own, Target) else site_of(url)


def _is_canonical(parsed: ParsedPage, targets: Mapping[str, Target | BadUrl], own: Target | BadUrl) -> bool:
    """Return whether the page *own* names no other URL as its canonical one; its variants are the same."""
    if not parsed.canonical:
        return True
    canonical = targets[parsed.canonical]
    return not (isinstance(canonical, Target) and isinstance(own, Target)) or canonical.key == own.key


def _reason(response: WebResponse, parsed: ParsedPage) -> str:
    """Return what is wrong with a page that was read; "" if nothing is."""
    if response.is_truncated:
        return Reason.BODY_CUT
    return Reason.LINKS_CUT.of(parsed.unread_links) if parsed.unread_links else ""


def _may_be_indexed(response: WebResponse, parsed: ParsedPage) -> bool:
    """Return whether neither the page nor its header asks search engines to leave it out."""
    if response.robots_tag:
        directives = {one.strip() for one in response.robots_tag.lower().split(",")}
        return "noindex" not in parsed.robots and directives.isdisjoint({"noindex", "none"})
    return "noindex" not in parsed.robots


def page_of(response: WebResponse, page_id: int, level: int, state: State, **fields: Any) -> Page:
    """Return the page with the facts of the head of *response*, and further *fields*."""
    return Page(
        page_id,
        response.url,
        level,
        state,
        response.status,
        content_type=(response.content_type or "")[:CONTENT_TYPE_CHARS],
        size_bytes=len(response.body),
        etag=(response.etag or "")[:VALIDATOR_CHARS],
        last_modified=(response.last_modified or "")[:VALIDATOR_CHARS],
        latency_s=response.latency_s,
        **fields,
    )
