"""Rules of URLs are learnt from the pages of a news crawl; of one site, in a real store."""

from crawlers.missions.news.news_items import News
from crawlers.missions.news.urls.rule_learner import LEARNT
from crawlers.missions.news.urls.stored_rules import rules_by_domain
from tests.support.missions.news.news_run import SITE


def test_rules_that_a_page_makes_due_are_learnt_and_stored_with_it(runs):
    crawl = runs(learns=True)
    news, others = [f"/x/{n:08x}f3a77c0" for n in range(20)], [f"/b/{n}" for n in range(20)]
    crawl.end(crawl.leases()["/"], *news, *others)
    leases = crawl.leases()
    for number, path in enumerate(path for pair in zip(news, others, strict=True) for path in pair):
        crawl.end(leases[path], news=News(odds=3.0 if path in news else -3.0))
        assert crawl.mission.classifier.has_rules(SITE) == (number > 18)  # there are 20 labels then
        assert crawl.mission.has_more or number != 19
        if number == 21:
            break
    crawl.writer.flush()
    assert [rule.origin for rule in rules_by_domain(crawl.database)["one.test"]] == [LEARNT]
