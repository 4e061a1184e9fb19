"""The URL classifier applies the rules of a news crawl and learns new ones; archives are recognised."""

from dataclasses import replace

import pytest

from crawlers.items import OTHER
from crawlers.missions.news.article.article_evidence import StoredLabel
from crawlers.missions.news.plan.news_scores import ARCHIVE, FIT, QueueSlot
from crawlers.missions.news.urls import url_classifier as module
from crawlers.missions.news.urls.rule_learner import HAND, LEARNT, UrlRule
from crawlers.missions.news.urls.stored_rules import LearntRulesRow
from crawlers.missions.news.urls.url_classifier import RuleSet, UrlClassifier, is_archive
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.resolution import resolve

NEWS_SITE = "https://www.example.org"


def rules(*pairs):
    return [UrlRule(regex, weight, "hand") for regex, weight in pairs]


def made(**domains):
    found = RuleSet()
    for name, of_it in domains.items():
        found.replace(name.replace("_", "."), of_it)
    return found


def test_alternatives_of_a_rule_stay_in_it():
    found = made(example_org=rules(("/a|/b", 1.0), ("^/c$", 1.0)))
    assert [found.weight(NEWS_SITE, NEWS_SITE + path) for path in ("/a", "/b", "/c", "/a/b", "/bb")] == [
        1.0,
        1.0,
        1.0,
        0.0,
        0.0,
    ]


@pytest.mark.parametrize(
    ("site", "weight"),
    [
        ("http://example.org", 0.5),
        ("https://a.b.example.org", 0.5),
        ("https://my.blog.example.org", 0.75),
        ("https://notexample.org", 0.0),
        ("https://org", 0.0),
        ("http://[::1]:80", 0.125),
    ],
)
def test_host_uses_the_rules_of_all_domains_above_it(site, weight):
    found = made(example_org=rules(("/x", 0.5)), blog_example_org=rules(("/x", 0.75)))
    found.replace("[::1]", rules(("/x", 0.125)))
    assert found.weight(site, f"{site}/x") == weight


def test_rules_of_a_host_can_be_listed():
    found = made(example_org=rules(("/x", 0.5)))
    assert [rule.regex for rule in found.rules_of("www.example.org")] == ["/x"]
    assert found.rules_of("example.net") == []


def test_sites_are_evicted_from_the_cache_and_looked_up_again(monkeypatch):
    monkeypatch.setattr(module, "MAX_SITES", 3)
    found = made(example_org=rules(("/x", 0.5)))
    for number in (*range(10), *range(10)):
        site = f"https://h{number}.example.org"
        assert found.weight(site, f"{site}/x") == 0.5
        assert len(found._of_site) <= 3


def test_changed_rules_apply_from_the_next_url_on():
    found = made(example_org=rules(("/x", 0.5)), example_net=rules(("/x", 0.5)))
    sites = [NEWS_SITE, "https://example.net", "https://example.com"]
    assert [found.weight(site, f"{site}/x") for site in sites] == [0.5, 0.5, 0.0]
    found.replace("example.org", rules(("/z", 0.7)))
    found.replace("example.com", rules(("/z", 0.7)))
    assert [found.weight(site, f"{site}/z") for site in sites] == [0.7, 0.0, 0.7]


@pytest.mark.parametrize(
    "path",
    [
        "/?page=2", "/news?p=3", "/sport/page/12/", "/sport/page-12.html", "/2026/", "/2026/11", "/2026/11/20/",
        "/2026-11-20", "/20261120/", "/archive/", "/archive.php?date=2026-11-20", "/archiv/2026", "/news/archive/x/y",
        "/list?offset=40&x=1", "/en/p2", "/News/PAGE/2", "/?Page=2", "/a/b/c/d/2026/11/20/",
        "/x;jsessionid=1?a=1;page=2",
    ],
)  # fmt: skip
def test_urls_of_pagination_calendars_and_archives_are_recognised(path):
    assert is_archive(f"http://paper.example{path}")


@pytest.mark.parametrize(
    "path",
    ["", "/", "/news/", "/story.php?id=12", "/2026/11/20/a-storm-came", "/2026/11/20/12345/", "/page",
     "/paged-out", "/tag/2026-election",
     "/news/12345", "/?q=page", "/archives-are-open-again", "/archive/a/b/c", "/page/2/x",
     # longer than the part of a URL that is examined
     "/" + "a/" * 5000, "/?" + "a=1&" * 60 + "page=2", "/archive/" + "a" * 300],
)  # fmt: skip
def test_urls_of_other_pages_are_not_recognised(path):
    assert not is_archive(f"http://paper.example{path}")


SITE = "http://www.paper.example"


def classifier(rules=(), used="manual"):
    """Return a classifier with *rules*, of which regex and weight stand for one by hand."""
    found = UrlClassifier(used)
    found.replace("paper.example", [one if isinstance(one, UrlRule) else UrlRule(*one, "hand") for one in rules])
    return found


def label(book, url, odds, site=SITE, now=0.0):
    """Label a page; return whether slots changed, and the rules that were learnt."""
    changes = ChangeSet()
    is_change = book.label(site, url, odds, changes, now)
    return is_change, [rule for row in changes[LearntRulesRow] for rule in row.rules]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/news/1.html", QueueSlot(FIT, 0.5)),
        ("/video/1.html", QueueSlot(OTHER, 0.0)),
        ("/news/page/2", QueueSlot(ARCHIVE, 0.0)),
        ("/about", QueueSlot(OTHER, 0.0)),
    ],
)
def test_queue_slot_of_a_url_depends_on_the_rules_and_its_form(path, place):
    book = classifier([(r"/[a-z]+/\d+\.html", 0.5), (r"/video/.*", 0.0)])
    assert book.slot(SITE, SITE + path) == place
    assert book.slot_of(resolve(SITE + "/", path)) == place


def labelled(book, numbers):
    """Label two pages for each number; return the rules that were learnt last."""
    rules = []
    for number in numbers:
        for path, odds in ((f"/news/{number}-a-story-about-{number}.html", 3.0), (f"/tag/{number}", -3.5)):
            rules = label(book, SITE + path, odds)[1] or rules
    return rules


def test_rules_are_learnt_from_enough_labels_and_kept():
    book = classifier(used="learnt")
    assert not labelled(book, range(9))
    assert label(book, f"{SITE}/tag/9", -3.5) == (False, [])
    is_change, learnt = label(book, f"{SITE}/news/9-a-story-about-9.html", 3.0)
    assert is_change
    assert {rule.origin for rule in learnt} == {LEARNT}
    assert book.slot(SITE, f"{SITE}/news/777-another-story.html").queue == FIT
    assert book.slot(SITE, f"{SITE}/tag/777").queue == OTHER
    assert not labelled(book, range(10, 19)), "not before there are more labels"
    assert labelled(book, range(19, 30))


def test_fingerprint_changes_with_everything_that_affects_queue_slots():
    books = [classifier(), classifier([("/a", 1.0)]), classifier([("/a", 0.5)]), classifier([("/a", 1.0), ("/b", 1.0)])]
    assert len({book.fingerprint(SITE) for book in books}) == len(books)
    assert classifier([("/b", 1.0), ("/a", 1.0)]).fingerprint(SITE) == books[3].fingerprint(SITE)


def test_what_a_person_said_stands_above_what_is_learnt():
    first = classifier(used="learnt")
    (rule, *_) = labelled(first, range(20))
    url = f"{SITE}/news/777-another-story.html"
    manual = [
        replace(rule, weight=0.0, origin=HAND),
        UrlRule("/mine", 1.0, HAND),
        UrlRule("/pinned", 1.0, LEARNT, True),
    ]
    for its, queue in ((manual, OTHER), (manual[1:], FIT)):
        book = classifier([*its, UrlRule("/old", 1.0, LEARNT)], "learnt")
        assert labelled(book, range(20))
        assert book.slot(SITE, url).queue == queue
        assert [book.weight(SITE, SITE + path) for path in ("/mine", "/pinned", "/old")] == [1.0, 1.0, 0.0]


def test_stored_rules_that_were_learnt_do_not_count_where_rules_are_not_learnt():
    stored = [UrlRule("/mine", 1.0, HAND), UrlRule("/pinned", 1.0, LEARNT, True), UrlRule("/old", 1.0, LEARNT)]
    weights = {
        used: [book.weight(SITE, SITE + rule.regex) for rule in stored]
        for used in ("learnt", "manual", "none")
        for book in [classifier(stored, used)]
    }
    assert weights == {"learnt": [1.0, 1.0, 1.0], "manual": [1.0, 1.0, 0.0], "none": [0.0, 0.0, 0.0]}


TITLE = f"{SITE}/politics/mayor-wins-the-cup-after-all"


def test_prior_supports_the_evidence_of_a_page_by_one_at_most():
    book = classifier(used="learnt")
    assert book.support(SITE, TITLE) == 1.0
    assert book.support(SITE, f"{SITE}/tag/storm") == 0.0
    assert classifier().support(SITE, TITLE) == 0.0


@pytest.mark.parametrize("origin", [HAND, LEARNT])
@pytest.mark.parametrize("path", ["/mayor-wins-the-cup-123456.html", "/2024/05/01/mayor-wins-the-cup-1234567.html"])
def test_url_that_a_rule_forbids_does_not_support_its_page(path, origin):
    url = f"{SITE}/politics{path}"
    book = classifier([UrlRule("/news/.+", 1.0, HAND)], "learnt")
    assert book.support(SITE, url) == 1.0
    book = classifier([UrlRule("/politics/.*", 0.0, origin), UrlRule("/news/.+", 1.0, HAND)], "learnt")
    book.recall(StoredLabel(SITE, f"{SITE}/{n}/x/{n}/y.jsp", 3.0 - 6.0 * (n % 2), 1.0) for n in range(500))
    assert book.support(SITE, url) == 0.0
    assert book.slot(SITE, url).queue == OTHER


def test_archive_that_a_rule_fits_has_a_probability_as_it_has_a_slot():
    book = classifier([UrlRule("/news/page/.*", 0.9, LEARNT)], "learnt")
    paths = (f"{SITE}/news/page/2", f"{SITE}/sport/page/2")
    assert [book.slot(SITE, url).queue == ARCHIVE for url in paths] == [False, True]
    assert [book.probability(SITE, url) == 0.0 for url in paths] == [False, True]


def test_rule_of_a_person_says_nothing_of_urls_that_it_does_not_match():
    without, with_one = (classifier(its, "learnt").odds(SITE, TITLE) for its in ((), [("/video/.*", 0.0)]))
    assert with_one == without > 0.0


def test_fingerprint_tells_who_made_a_rule():
    prints = {classifier([UrlRule("/x/.*", 0.0, origin)], "learnt").fingerprint(SITE) for origin in (HAND, LEARNT)}
    assert len(prints) == 2


def test_crawl_that_learns_nothing_has_even_odds():
    assert classifier().odds(SITE, TITLE) == 0.0


def test_pages_are_queued_anew_when_the_labels_have_doubled():
    book = classifier(used="learnt")
    fingerprints, anew = [book.fingerprint(SITE)], []
    for number in range(1, 140):
        if label(book, f"{SITE}/x/{number}", 3.0)[0]:
            anew.append(number)
        fingerprints.append(book.fingerprint(SITE))
    assert anew == [1, 2, 4, 8, 16, 32, 64, 128]
    assert len(set(fingerprints)) == 9


def test_learnt_rules_count_more_the_more_labels_there_are():
    queues = []
    for number in (0, 1000):
        book = classifier([UrlRule("/politics/mayor-.*", 0.9, LEARNT)], "learnt")
        book.recall(StoredLabel(SITE, f"{SITE}/{n}/x/{n}/y.jsp", 3.0 - 6.0 * (n % 2), 1.0) for n in range(number))
        queues.append([book.slot(SITE, url).queue for url in (TITLE, TITLE.replace("mayor", "team"))])
    assert queues == [[FIT, FIT], [FIT, OTHER]]


def test_trust_in_learnt_rules_rises_with_their_labels_and_is_bounded():
    taught, rises = classifier(used="learnt")._new(), {}
    for number in range(1, 3_000):
        taught.rules.label(f"/{number}", number % 2 == 0)
        rises.setdefault(taught.trust, number)
    assert rises == {0.5: 1, 1.0: 32, 1.5: 64, 2.0: 128, 2.5: 256, 3.0: 512}


def test_pages_that_are_probably_no_articles_wait_in_the_order_in_which_they_were_found():
    book = classifier(used="learnt")
    assert {book.slot(SITE, SITE + path) for path in ("/about", "/tag/storm")} == {QueueSlot(OTHER, 0.0)}


OTHERS = "http://www.gazette.example"
PAGES = [
    StoredLabel(site, site + path, odds, 1.0 + n)
    for n in range(40)
    for site in ((SITE, OTHERS) if n < 5 else (SITE,))
    for path, odds in ((f"/a/{n}f3a77c0{n}", 3.0), (f"/b/{n}", -3.0))
]


def test_resumed_run_knows_what_was_learnt_also_of_sites_with_rules():
    first, second = classifier(used="learnt"), classifier(used="learnt")
    for site, url, odds, at in PAGES:
        label(first, url, odds, site, at)
    assert first.has_rules(SITE)
    assert not first.has_rules(OTHERS)
    second.replace("paper.example", first._rules.rules_of("paper.example"))
    second.recall(PAGES)
    new = f"{OTHERS}/a/7c01f3bb"
    assert first.slot(OTHERS, new).value > classifier(used="learnt").slot(OTHERS, new).value
    for site in (SITE, OTHERS):
        for path in ("/a/7c01f3bb", "/b/777"):
            assert second.slot(site, site + path) == first.slot(site, site + path)
        assert second.fingerprint(site) == first.fingerprint(site)
    second.forget_labels("gazette.example")
    assert second.slot(OTHERS, new) == classifier(used="learnt").slot(OTHERS, new)
