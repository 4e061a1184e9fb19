"""Rules of URLs are learnt from the pages of a news crawl, in other processes; of one site, in a real store."""

import asyncio
import logging

import pytest

from crawlers.items import Page, State
from crawlers.missions.news.news_items import News
from crawlers.missions.news.urls.rule_learner import LEARNT, learn_rules
from crawlers.missions.news.urls.stored_rules import rules_by_domain
from tests.support.news_run import NOW, SITE


def test_rules_that_a_page_made_due_are_learnt_before_the_next_one_ends(runs):
    crawl = runs(learns=True)
    news, others = [f"/x/{n:08x}f3a77c0" for n in range(20)], [f"/b/{n}" for n in range(20)]
    crawl.end(crawl.leases()["/"], *news, *others)
    leases = crawl.leases()
    for number, path in enumerate(path for pair in zip(news, others, strict=True) for path in pair):
        crawl.end(leases[path], news=News(odds=3.0 if path in news else -3.0))
        assert crawl.mission.classifier.has_rules(SITE) == (number > 29)  # there are 30 labels then
        assert crawl.mission.has_more or number != 29
        if number == 31:
            break
    crawl.writer.flush()
    assert [rule.origin for rule in rules_by_domain(crawl.database)["one.test"]] == [LEARNT]


def learning(runs, call):
    """Return a crawl that learns by *call*, and the leases of pages of which nothing is known."""
    crawl = runs(learns=True, call=call)
    crawl.end(crawl.leases()["/"], *(f"/other/{n}" for n in range(4)))
    return crawl, [*crawl.leases().values()]


def taught(crawl, numbers):
    """Give the classifier labels, two for each number."""
    for number in numbers:
        for path, odds in ((f"/b/{number}", 3.0), (f"/tag/{number}", -3.0)):
            crawl.mission.classifier.label(SITE, SITE + path, odds)


def ended_label(crawl, lease):
    """Let a page end that is a label; return it."""
    page = Page(lease.id, lease.url, 1, State.DONE, 200, facts=News(odds=-3.0), content_hash=lease.url.encode())
    crawl.frontier.acknowledge(lease, crawl.mission.decide(lease, page, NOW), NOW)
    return page


def test_rules_of_more_labels_are_never_replaced_by_those_of_fewer(runs):
    """Tasks of several processes end in any order: here, the one that began last ends first."""
    calls = []

    async def call(owner, function, task, now):
        calls.append((task, asyncio.get_running_loop().create_future()))
        return await calls[-1][1]

    crawl, (one, two, *waiting) = learning(runs, call)

    async def learn():
        running = []
        for lease, numbers, other in ((one, range(20), waiting[0]), (two, range(20, 60), waiting[1])):
            taught(crawl, numbers)
            ended_label(crawl, lease)
            page = Page(other.id, other.url, 1, State.DONE)
            running.append(asyncio.create_task(crawl.mission.prepare(other, page)))
            await asyncio.sleep(0)
        while open_calls := [(task, result) for task, result in calls if not result.done()]:
            task, result = open_calls[-1]
            result.set_result(learn_rules(task, NOW))
            for _ in range(5):
                await asyncio.sleep(0)
        await asyncio.gather(*running)

    asyncio.run(learn())
    assert [len(task.articles) for task, _ in calls] == [20, 60]
    crawl.writer.flush()
    assert [rule.support for rule in rules_by_domain(crawl.database)["one.test"]] == [60]


@pytest.mark.parametrize(
    ("failure", "reason"),
    [("killed_its_process", "killed_its_process"), (ValueError("no"), "raised ValueError: no")],
)
def test_rules_that_could_not_be_learnt_are_learnt_after_ten_labels_and_no_page_is_lost(runs, caplog, failure, reason):
    failures = [failure]

    async def call(owner, function, *args):
        if failures and isinstance(failures[-1], Exception):
            raise failures.pop()
        return failures.pop() if failures else function(*args)

    crawl, leases = learning(runs, call)
    taught(crawl, range(20))
    ended_label(crawl, leases[0])
    assert crawl.end(leases[1], news=News(odds=-3.0)).state is State.DONE  # learning fails before it
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [record.getMessage() for record in warnings if "rules" in record.getMessage()] == [
        f"one.test: its URL rules can't be learnt: learning {reason}; it is tried again after further labels"
    ]
    assert not crawl.mission.classifier.has_rules(SITE)
    taught(crawl, range(20, 25))
    ended_label(crawl, leases[2])
    crawl.end(leases[3])
    assert crawl.mission.classifier.has_rules(SITE)


def test_learning_that_is_cancelled_is_begun_again(runs):
    async def hang(owner, function, *args):
        await asyncio.Event().wait()

    crawl, (one, two, three, *_) = learning(runs, hang)
    taught(crawl, range(20))
    ended_label(crawl, one)

    async def cancel():
        preparing = asyncio.create_task(crawl.mission.prepare(two, Page(two.id, two.url, 1, State.DONE)))
        await asyncio.sleep(0)
        assert crawl.mission.classifier.learning
        preparing.cancel()
        await asyncio.gather(preparing, return_exceptions=True)

    asyncio.run(cancel())
    assert not crawl.mission.classifier.learning
    taught(crawl, range(20, 25))
    ended_label(crawl, three)
    assert crawl.mission.classifier.is_due(SITE)


def test_exception_while_rules_are_learnt_is_logged_with_its_traceback_once_for_each_domain(runs, caplog):
    async def call(owner, function, *args):
        raise ValueError("no")

    crawl, leases = learning(runs, call)
    taught(crawl, range(20))
    for number, lease in enumerate(leases):
        assert crawl.end(lease, news=News(odds=-3.0)).state is State.DONE
        taught(crawl, range(20 + 10 * number, 30 + 10 * number))
    errors = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert [record.getMessage() for record in errors] == ["one.test: learning its URL rules raised an exception"]
    assert "ValueError: no" in errors[0].exc_text
    assert sum("can't be learnt" in record.getMessage() for record in caplog.records) > 1
