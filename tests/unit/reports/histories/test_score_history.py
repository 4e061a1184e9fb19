"""The history of a page has its scores."""

import math

import pytest
from sqlalchemy import update

from crawlers.ranking.link_values import LinkValues, features_of
from crawlers.reports.histories.score_history import score_facts
from crawlers.store.schema.tables import LinkFeaturesRow, PullRow, page
from crawlers.store.writing.pulls import keep_link_prior
from tests.support.scored_history import ALIKE, HOME, NEW, OTHER, PAGES, ROW, history, replace_scores
from tests.support.scored_store import A, store
from tests.support.stored_rows import committed, execute, read, write_rows


@pytest.mark.both_stores
def test_page_that_was_read_has_importance_cash_and_rank(database):
    crawl = store(database, PAGES)
    page = crawl.pages[HOME]
    write_rows(database, *[PullRow(crawl.sites[A], page, 0.0, 0.0)] * 3)
    rank = 1 + (crawl.opic.importance(crawl.pages[OTHER]) > crawl.opic.importance(page))
    before = int(crawl.opic.score(crawl.pages[OTHER]) > crawl.opic.score(page))
    assert history(database, crawl, HOME) == [
        f"  importance {round(crawl.share(HOME), 12):.12g}, number {rank} of 2 pages read",
        f"  cash {crawl.opic.cash(page):.6g}",
        "  downloads counted so far: 3",
        f"  waits to be fetched again: {before} such pages of its site have a higher score",
    ]


def test_waiting_page_has_cash_and_its_position(database):
    crawl = store(database, PAGES)
    assert history(database, crawl, NEW) == [
        f"  cash {crawl.opic.cash(crawl.pages[NEW]):.6g}",
        "  waits to be fetched for the first time: 0 such pages of its site have a higher score",
    ]


def learnt(database):
    """A crawl with ORDER=learnt, of which the home page and a page like the new one were read."""
    crawl = store(database, PAGES, order="bfs")
    execute(database, update(page).where(page.c.id == crawl.pages[NEW]).values(state=0))
    rows = [PullRow(crawl.sites[A], crawl.pages[url], reward, 0.0) for url, reward in ((HOME, 3.0), (OTHER, 20.0))]
    features = [LinkFeaturesRow(crawl.pages[OTHER], ALIKE), LinkFeaturesRow(crawl.pages[NEW], ROW)]
    replace_scores(database, *rows, *features)
    return crawl


def test_waiting_page_has_what_its_link_promises_by_what_was_read_until_now(database):
    crawl = learnt(database)
    values = LinkValues()
    values.learn(features_of(ALIKE).tolist(), 20.0)
    first, *parts, prior, value, last = history(database, crawl, NEW)
    assert first == f"  its link promises {values.values(features_of(ROW)[None])[0]:.3g} new links"
    assert any(part.endswith(" by its place on the page") for part in parts)
    product = math.prod(float(part.split()[1]) for part in parts)
    assert product == pytest.approx(values.values(features_of(ROW)[None])[0], rel=0.02)
    assert prior == "    the link prior alone gives x 1"
    score = math.exp(values.scores(features_of(ROW)[None])[0])
    assert value == f"    its value for comparison is {score:.3g}: the less is known of it, the higher"
    assert last == "  next of its site: found first of the links that promise most (1)"


@pytest.mark.both_stores
def test_link_has_what_of_its_value_was_the_prior(database):
    crawl = learnt(database)
    committed(keep_link_prior, database, crawl.id, lambda: {"anchor": {"story": 0.5}, "level": {"2": 0.25}})
    _, *_, prior, _, _ = history(database, crawl, NEW)
    assert prior == f"    the link prior alone gives x {math.exp(0.75):.3g}"


def test_page_that_was_read_has_what_its_link_promised_before(database):
    assert history(database, learnt(database), OTHER) == [
        "  its link promised 1 new links",
        "    the link prior alone gives x 1",
        f"    its value for comparison is {math.exp(0.8 * 2):.3g}: the less is known of it, the higher",
    ]


def test_promise_is_not_computed_when_the_time_is_over(database):
    crawl = learnt(database)
    (fact,) = read(score_facts, database, crawl.id, crawl.pages[NEW], lambda: True)
    assert "too many pages" in fact.said.template
