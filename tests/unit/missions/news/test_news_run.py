"""What becomes of the pages of a news crawl: their links' places, their next visits; of one site, in a real store."""

from crawlers.frontier.values import Candidate
from crawlers.items import OTHER, State
from crawlers.missions.news.article.article_evidence import SURE, label
from crawlers.missions.news.dedup.document_fingerprints import document_fingerprint
from crawlers.missions.news.feeds.feed_registry import USUAL_PLACES
from crawlers.missions.news.news_items import FEED, HOME, SITEMAP, Article, News
from crawlers.missions.news.news_run import MAX_SITEMAPS
from crawlers.missions.news.plan.news_scores import BEFORE_ARTICLES, FIT, FRESH
from crawlers.missions.news.stored.news_tables import FeedItemRow
from crawlers.reasons import Reason
from tests.support.missions.news.news_run import HOUR, NOW, OUT, RULE, SITE, feed, target


def test_what_a_feed_announces_waits_fresh_and_what_may_be_a_feed_before_all(runs):
    crawl = runs(RULE)
    crawl.end(crawl.lease(), "/a1", "/x", news=News(feeds=[target("/feed")]))
    assert crawl.slot("/feed") == (FRESH, BEFORE_ARTICLES.value)
    assert crawl.slot("/a1") == (FIT, 1.0)
    lease = crawl.lease()
    assert lease.url == crawl.url("/feed")
    assert not crawl.mission.is_announced(lease)
    crawl.end(lease, "/a1", "/y", news=feed("/a1", "/y"))
    assert crawl.slot("/a1") == (FRESH, NOW)
    assert crawl.slot("/y") == (FRESH, NOW - 60.0)
    announced = crawl.lease()
    assert crawl.mission.is_announced(announced)
    assert crawl.mission.is_in_feed(announced)
    assert crawl.poll("/feed") == (FEED, 0, 2)


def test_item_that_was_announced_before_is_not_new(runs):
    crawl = runs()
    crawl.end(crawl.lease(), news=News(feeds=[target("/feed")]))
    crawl.end(crawl.lease(), "/a1", news=feed("/a1"))
    crawl.end(crawl.leases()["/a1"])
    again = runs()
    again.end(again.leases(NOW + 9 * HOUR)["/feed"], "/a2", "/a1", news=feed("/a2", "/a1"), now=NOW + 9 * HOUR)
    assert [row.key for row in again.decision.changes[FeedItemRow]] == [target("/a2").key]
    assert again.poll("/feed") == (FEED, 0, 2)


def test_index_within_an_index_within_an_index_leads_no_further(runs):
    crawl = runs()
    crawl.end(crawl.lease(), news=News(feeds=[target("/1.xml")]))
    for number in range(1, 4):
        crawl.end(crawl.lease(), news=feed(kind=SITEMAP, further=(f"/{number + 1}.xml",)))
    assert crawl.slot("/3.xml")
    assert not crawl.rows("SELECT id FROM page WHERE key", "/4.xml")


def test_older_sitemaps_are_no_feeds_of_the_next_run(runs):
    crawl = runs()
    many = tuple(f"/{n}.xml" for n in range(MAX_SITEMAPS + 1))
    crawl.end(crawl.lease(), news=News(feeds=[target("/index.xml")]))
    crawl.end(crawl.lease(), news=feed(kind=SITEMAP, further=many))
    for path, lease in crawl.leases().items():
        assert path in many
        crawl.end(lease, news=feed(kind=SITEMAP))
    assert crawl.feeds() == {"/index.xml", *many[:-1]}


def test_given_feed_that_fails_at_first_is_a_feed_and_a_home_page_is_none(runs, caplog):
    crawl = runs(roots=("/rss", "/map.xml"))
    for _ in range(2):
        for lease in crawl.leases(NOW + 9 * HOUR).values():
            crawl.end(lease, state=State.FAILED, status=0, reason="timeout")
    polls = [crawl.poll(path) for path in ("/rss", "/map.xml", "/")]
    assert polls == [(FEED, 2, 0), (SITEMAP, 2, 0), (HOME, 2, 0)]
    assert sorted(caplog.messages) == [
        f"feed {SITE}/rss of {SITE}: timeout",
        f"sitemap {SITE}/map.xml of {SITE}: timeout",
    ]


def test_given_feed_that_is_none_is_forbidden_or_moved_says_so(runs, caplog):
    crawl = runs(roots=("/rss", "/closed", "/old"))
    leases = crawl.leases()
    assert {crawl.mission.kind(lease) for path, lease in leases.items() if path != "/"} == {FEED}
    crawl.end(leases["/rss"], news=News(FEED, problem="not_a_feed"))
    crawl.end(leases["/closed"], state=State.REJECTED, reason="robots_disallows")
    crawl.end(leases["/old"], state=State.MOVED, status=301, moved_to=target("/new"))
    problems = {
        path: crawl.rows("SELECT problem FROM poll JOIN page p ON p.id = page_id WHERE p.key", path) for path in leases
    }
    assert problems == {
        "/": [],
        "/rss": [("not_a_feed",)],
        "/closed": [("robots_disallows",)],
        "/old": [(f"redirected {SITE}/new",)],
    }
    assert crawl.poll("/rss")[0] == FEED
    assert sorted(caplog.messages) == [
        f"feed {SITE}/closed of {SITE}: robots.txt disallows it",
        f"feed {SITE}/rss of {SITE}: is not a feed",
    ]
    crawl.end(crawl.leases()["/new"], "/a1", news=feed("/a1"))
    assert crawl.poll("/new") == (FEED, 0, 1)
    assert crawl.feeds() == {"/new"}, "given ones are the store's already"


def test_discovered_feed_is_stored_with_its_first_response(runs):
    crawl = runs()
    crawl.end(crawl.lease(), news=News(feeds=[target("/feed"), target("/rss")]))
    assert crawl.feeds() == set()
    found = crawl.leases()
    crawl.end(found["/feed"], "/a1", news=feed("/a1"))
    crawl.end(found["/rss"], state=State.FAILED, status=404, reason="status 404")
    assert crawl.feeds() == {"/feed"}
    again = runs()
    again.end(again.leases(NOW + 9 * HOUR)["/feed"], "/a2", news=feed("/a2"), now=NOW + 9 * HOUR)
    assert again.feeds() == {"/feed"}


def test_usual_places_are_tried_when_the_home_page_is_closed(runs):
    crawl = runs()
    crawl.end(crawl.lease(), state=State.REFUSED, status=403, reason="status 403")
    assert {crawl.slot(path) for path in USUAL_PLACES} == {BEFORE_ARTICLES}


def test_usual_places_are_tried_when_a_site_that_names_no_feed_has_a_document(runs):
    crawl = runs()
    crawl.end(crawl.lease())
    assert not any(crawl.rows("SELECT id FROM page WHERE key", path) for path in USUAL_PLACES)
    read_article(crawl, "/a1")
    assert all(crawl.slot(path) is not None for path in USUAL_PLACES)


def test_removed_feed_is_not_asked_for_however_it_is_found(runs):
    crawl = runs()
    crawl.end(crawl.lease(), "/link-to-feed", news=News(feeds=[target("/feed"), target("/rss")]))
    crawl.end(crawl.lease(), "/a1", news=feed("/a1"))
    again = runs(removed=("/feed", "/rss", "/atom"))
    due = again.leases(NOW + 9 * HOUR)
    skipped = {path for path, lease in due.items() if again.mission.reason_to_skip(lease) == Reason.FEED_REMOVED}
    assert skipped == {"/feed", "/rss"}
    for path in ("/feed", "/rss"):
        again.end(due[path], state=State.REJECTED, status=0, reason=Reason.FEED_REMOVED, now=NOW + 9 * HOUR)
    again.end(due["/"], "/atom", "/rss", news=News(HOME, feeds=[target("/atom"), target("/feed")]), now=NOW + 9 * HOUR)
    assert again.rows("SELECT reason FROM page WHERE key", "/atom") == [(Reason.FEED_REMOVED,)]
    third = runs(removed=("/feed", "/rss", "/atom"))
    assert set(third.leases(NOW + 99 * HOUR)) == {"/", "/a1", "/link-to-feed"}


def test_sitemaps_of_robots_txt_are_those_of_the_crawl_s_sites_that_nobody_removed(runs):
    crawl = runs(removed=("/gone.xml",))
    names = [f"{SITE}/map.xml", f"{SITE}/gone.xml", f"{OUT}/map.xml"]
    assert crawl.mission.found_by_robots(names) == [f"{SITE}/map.xml"]


def read_article(crawl, path, canonical="", words=("word",), end=""):
    """Let the page at *path* be fetched and have an article of *words*, that much speaks for; its label."""
    crawl.frontier.add([Candidate(crawl.site_id, target(path), hint=BEFORE_ARTICLES)], NOW)
    text = " ".join(f"{word}{n}" for n in range(80) for word in words) + end
    canonical = canonical and crawl.url(canonical)
    article = Article("Title", text, None, "", (), "", "en", canonical, "", "json-ld")
    news = News(fits=True, odds=3.0, article=article, fingerprint=document_fingerprint(crawl.url(path), article))
    crawl.end(crawl.lease(), canonical=canonical, news=news)
    ((odds,),) = crawl.rows("SELECT odds FROM page_label l JOIN page p ON p.id = page_id WHERE p.key", path)
    return odds


def test_page_with_the_article_of_another_is_no_label_for_its_url(runs):
    crawl = runs()
    crawl.end(crawl.lease(), news=feed())
    assert read_article(crawl, "/news/1-story") == 3.0
    assert read_article(crawl, "/news/1-story?view=plain", canonical="/news/1-story") == SURE
    assert read_article(crawl, "/print/1", words=("word",), end=" Printed from the paper") == SURE
    assert read_article(crawl, "/news/2", words=("other",)) == 3.0
    assert label(SURE) is None


def test_form_for_printers_is_not_fetched(runs):
    crawl = runs()
    crawl.end(crawl.lease(), "/news/1-story")
    crawl.end(crawl.lease(), "/news/1-story?print=1", "/news/2?print=1")
    assert list(crawl.leases()) == ["/news/2?print=1"]
    ((reason,),) = crawl.rows("SELECT reason FROM page WHERE key", "/news/1-story?print=1")
    assert reason.startswith("same_url ")


def test_killed_run_is_followed_by_one_that_knows_what_its_pages_have_taught(runs):
    """The pages before the kill teach the prior what pages of the next run have as their slots."""
    crawl = runs(learns=True)
    news = [f"/x/{n:08x}f3a77c0" for n in range(24)]
    crawl.end(crawl.leases()["/"], *news[:4], *(f"/b/{n}" for n in range(4)))
    leases = crawl.leases()
    for number, path in enumerate((*news[:3], "/b/1", "/b/2")):
        crawl.end(leases[path], now=NOW + number, news=News(odds=3.0 if path in news else -3.0))
    new = ("/x/8badf00d17ac0de", "/b/17")
    slots = [crawl.mission.classifier.slot(SITE, SITE + path) for path in new]
    assert [slot.queue for slot in slots] == [FIT, OTHER]
    crawl.writer.flush()  # all pages are stored, and the process is killed
    again = runs(learns=True)
    assert [again.mission.classifier.slot(SITE, SITE + path) for path in new] == slots
    assert again.mission.classifier.fingerprint(SITE) == crawl.mission.classifier.fingerprint(SITE)
