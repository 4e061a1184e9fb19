"""Decides when the pages of a news crawl are fetched again: polls, and articles that are looked at once more."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from crawlers.frontier.acknowledgement import may_pass
from crawlers.items import State
from crawlers.missions.news.news_items import ANNOUNCERS, ARTICLE, FEED, HOME, NEW, PAGE, POLLED_LISTS, SITEMAP
from crawlers.missions.news.plan.news_scores import ARCHIVE, BEFORE_ARTICLES, QueueSlot
from crawlers.missions.news.stored.news_tables import FeedItemRow, PollRow
from crawlers.reasons import Reason
from crawlers.urls.resolution import site_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawlers.frontier.values import Lease
    from crawlers.items import Page
    from crawlers.missions.news.news_items import Announced, News
    from crawlers.missions.news.news_sites import NewsSites
    from crawlers.store.writing.change_set import ChangeSet

PERMANENT = frozenset({301, 308})  # redirects; after others a page may be there again
REPEAT_VISIT_S = 3600.0  # after a second visit that failed
MAX_REPEATS = 3  # of a second visit
MIN_NEW = 2  # articles that a page must show to be worth another visit


class LinkSlots(NamedTuple):
    """The links of a page that get a queue slot."""

    slots: Mapping[int, QueueSlot]  # by key, including announced links that are known
    new: int  # links to URLs that were never seen before
    fits: int  # of these, to possible articles


NO_LINKS = LinkSlots({}, 0, 0)


class NextVisits:
    """The next visits to pages. An article is fetched once more after *recheck_s* seconds; 0: never."""

    def __init__(self, sites: NewsSites, recheck_s: float) -> None:
        self._classifier = sites.classifier
        self._polls = sites.polls
        self._feeds = sites.feeds
        self._announcements = sites.announcements
        self._recheck_s = recheck_s
        self._repeats: Counter[int] = Counter()  # of second visits that failed, by page

    def kind(self, lease: Lease) -> str:
        """Return the kind of poll of a lease; "" if it is none."""
        return self._polls.kind(lease.id) or self._feeds.kind(lease.key)

    def has_moved(self, lease: Lease, page: Page) -> bool:
        """Return whether *page* redirects, and not only temporarily (maintenance, a consent page)."""
        is_brief = bool(self._polls.kind(lease.id)) and page.status not in PERMANENT
        return page.state is State.MOVED and not is_brief

    def follow_redirect(
        self, lease: Lease, page: Page, news: News, changes: ChangeSet, now: float
    ) -> Mapping[int, QueueSlot]:
        """Let the target of a redirect take the place of a poll or root; return its slot."""
        assert page.moved_to is not None
        kind = self.kind(lease)
        if kind in ANNOUNCERS and self._feeds.reason_against(lease.key) is None:
            problem = _redirect_problem(page)  # shown to people
            self._polls.record_failure(lease, kind, now, changes, problem)
        self._polls.forget(lease.id)
        if not news.kind and lease.level > 0:
            return {}
        self._feeds.move(lease.key, page.moved_to.key)
        return {page.moved_to.key: BEFORE_ARTICLES}

    def must_be_read_again(self, lease: Lease, news: News) -> bool:
        """Return whether a feed announced the page while it was in flight."""
        is_new = not (news.fits or news.outcome or news.announces or lease.is_revisit)
        return is_new and lease.key in self._announcements

    def next(
        self,
        lease: Lease,
        page: Page,
        news: News,
        new: Sequence[Announced],
        found: LinkSlots,
        changes: ChangeSet,
        now: float,
    ) -> tuple[bool, float | None]:
        """Return whether the page is a poll, and the time of its next visit, if there is to be one.

        *new* are the items that it announces for the first time.
        """
        polls = self._polls
        is_home = self._feeds.is_start_page(lease.key)
        if page.state is State.REJECTED:
            kind = self.kind(lease) or (HOME if is_home else "")
            if kind in POLLED_LISTS and self._feeds.reason_against(lease.key) is None:
                # robots.txt may be accessible later, or allow the page.
                return True, polls.record_failure(lease, kind, now, changes, page.reason)
            polls.forget(lease.id)
            return False, None
        if page.state is not State.DONE:
            is_root = lease.level == 0 and page.state in (State.FAILED, State.REFUSED)  # which may appear later
            is_large = page.reason == Reason.TOO_LARGE and self._announcements.may_be_feed(lease)
            if polls.kind(lease.id) or is_root or is_large:
                kind = self.kind(lease) or (HOME if is_home else FEED)
                return True, polls.record_failure(lease, kind, now, changes, page.reason or _redirect_problem(page))
            if lease.is_revisit and may_pass(page) and self._repeats[lease.id] < MAX_REPEATS:
                self._repeats[lease.id] += 1  # else its article would never be looked for again
                return True, now + REPEAT_VISIT_S
            self._repeats.pop(lease.id, None)
            return False, None
        self._repeats.pop(lease.id, None)
        if page.is_unchanged:
            if kind := polls.kind(lease.id):
                return True, polls.record_poll(lease, kind, now, changes, new_items=0, shown=0)
            return False, None
        if news.announces:
            changes.add(*(FeedItemRow(lease.id, i.target.key, i.published_at, now, i.title) for i in new))
            shown, span_s, problem = len(news.items), news.span_s, _problem(news, bool(new))
            counts = {"new_items": len(new), "shown": shown}
            return True, polls.record_poll(lease, news.kind, now, changes, **counts, span_s=span_s, problem=problem)
        if news.outcome == NEW and self._recheck_s and not lease.is_revisit:
            due_at = now + self._recheck_s
            changes.add(PollRow(lease.id, lease.site_id, ARTICLE, due_at, now, 0, 0, 0, None, "[]", None))
            return True, due_at
        was_announced = lease.is_revisit and not news.outcome and lease.key in self._announcements  # maybe a section
        if self.kind(lease) or lease.level == 0 or was_announced or not (news.fits or lease.is_revisit):
            return True, self._of_hub(lease, page, news, found, changes, now)
        return False, None

    def _of_hub(
        self, lease: Lease, page: Page, news: News, found: LinkSlots, changes: ChangeSet, now: float
    ) -> float | None:
        """Return the time of the next visit to a page that may show new articles."""
        is_poll = bool(self._polls.kind(lease.id))
        count = found.fits if self._classifier.has_rules(site_of(page.url)) else found.new
        if lease.queue == ARCHIVE and not is_poll:
            return None  # an older sitemap of an index, or a page of an archive, which is read once
        is_home = lease.level == 0 or news.kind == SITEMAP
        may_be_section = found.fits or lease.level == 1  # without rules, the sections
        is_worth = count >= MIN_NEW and may_be_section and self._polls.has_room(lease.site_id)
        if not (is_poll or is_home) and (not is_worth or news.outcome == NEW):
            return None
        kind, new = news.kind or (HOME if is_home else PAGE), count if is_poll else 0
        return self._polls.record_poll(
            lease,
            kind,
            now,
            changes,
            new_items=new,
            shown=len(page.links),
            problem=_problem(news, bool(found.new)),
        )


def _problem(news: News, has_new: bool) -> str:
    """Return what is wrong with a feed, or that it goes on, unless what was read of it was known."""
    return Reason.FEED_REST.of(news.rest) if news.rest and has_new else news.problem


def _redirect_problem(page: Page) -> str:
    return Reason.REDIRECTED.of(page.moved_to.url) if page.moved_to is not None else Reason.NO_RESPONSE
