"""The history of a page has its scores."""

import json
import math

import numpy as np
import pytest
from sqlalchemy import delete, update

from crawlers.items import LinkPlace
from crawlers.missions.topic.topic_scores import LinkRelevance, TopicScores
from crawlers.missions.topic.topic_tables import RelevanceRow, TopicPageRow
from crawlers.missions.topic.vectors import DEFAULT_STRATEGY, STRATEGIES, Weights
from crawlers.ranking.link_features import link_features
from crawlers.ranking.link_values import LinkValues, features_of, text_of
from crawlers.reports.histories.history import fact_lines
from crawlers.reports.histories.score_history import score_facts
from crawlers.store.schema.tables import LinkFeaturesRow, OrderTotalsRow, PullRow, importance, order_totals, page
from crawlers.store.writing.pulls import keep_link_prior
from tests.support.scored_store import A, Linked, store
from tests.support.stored_rows import committed, execute, read, write_rows

HOME, OTHER, NEW = f"{A}/", f"{A}/other", f"{A}/new"
PAGES = [Linked(HOME, (OTHER,)), Linked(OTHER, (HOME, NEW)), Linked(NEW), Linked(f"{A}/moved", moved_to=HOME)]


def history(database, crawl, url):
    return fact_lines(read(score_facts, database, crawl.id, crawl.pages[url]))


def replace_scores(database, *rows):
    for table in (importance, order_totals):
        execute(database, delete(table))
    write_rows(database, *rows)


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


@pytest.mark.both_stores
@pytest.mark.parametrize("weights", [Weights(0.5, 0.25, 0.25), None])
def test_score_of_a_topic_crawl_has_three_parts(database, weights):
    settings = {"TOPIC": json.dumps([{}, [], [0.5, 0.25, 0.25], "en"])} if weights else {}
    crawl = store(database, PAGES, order="topic", mission="topic", settings=settings)
    home, other, new = (crawl.pages[url] for url in (HOME, OTHER, NEW))
    scores = TopicScores(weights or STRATEGIES[DEFAULT_STRATEGY])
    scores.add_waiting(home, 0)
    scores.fetched(home, {})
    scores.add_waiting(other, 1)
    scores.add_waiting(new, 1)
    scores.add_waiting(crawl.pages[f"{A}/moved"], 1)
    scores.fetched(crawl.pages[f"{A}/moved"], {other: 0.25, new: 0.75})
    rows = [
        RelevanceRow(page, crawl.sites[A], scores.queue(page), scores.score(page), *scores.record(page))
        for page in (home, other, new)
    ]
    first_worker = OrderTotalsRow(crawl.id, 1, json.dumps(TopicScores(STRATEGIES["mixed"]).totals()), "[]")
    second_worker = OrderTotalsRow(crawl.id, 2, json.dumps(scores.totals()), "[]")
    replace_scores(database, *rows, first_worker, second_worker, TopicPageRow(home, 0.5, "{}"))
    a, b, c = (0.5, 0.25, 0.25) if weights else (0.5, 0, 0)
    anchor, distance, rank = scores.parts(other)
    score, *others = history(database, crawl, OTHER)
    assert score == (
        f"  score {scores.score(other):.4f} = {a} x {anchor:.4f} (text of links) + {b} x {distance:.4f} (1 over its "
        f"distance 2) + {c} x {rank:.4f} (TimelyRank)"
    )
    if weights:
        assert others == ["  waits to be fetched for the first time: 1 such pages of its site have a higher score"]
    else:
        assert others == [
            f"  plus 0.5 x 1.0000 (what similar links led to) = {scores.score(other) + 0.5:.4f}",
            "    1 is that of an average page",
            "  1 waiting pages of its site come before it",
        ]
    first, *_, similarity = history(database, crawl, HOME)
    assert first.startswith(f"  score {scores.score(home):.4f} = ")
    assert similarity == "  similarity to the topic 0.5000"


ROW = text_of(np.array(link_features(A, NEW, 2, 1, LinkPlace("ul/li", "ul/li", "A story")), np.uint32))
ALIKE = text_of(np.array(link_features(A, OTHER, 1, 1, LinkPlace("ul/li", "ul/li", "Another")), np.uint32))


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


def test_page_of_a_topic_crawl_has_what_similar_links_led_to(database):
    settings = {"TOPIC": json.dumps([{}, [], [0.5, 0.0, 0.0, 0.5], "en"])}
    crawl = store(database, PAGES, order="topic", mission="topic", settings=settings)
    home, other, new = (crawl.pages[url] for url in (HOME, OTHER, NEW))
    scores = TopicScores(STRATEGIES["learnt"])
    rows = [RelevanceRow(page, crawl.sites[A], 0 if page == new else -1, 0.0, 0.0, 1, 0.0) for page in (other, new)]
    pulls = [PullRow(crawl.sites[A], page, reward, 0.0) for page, reward in ((home, 0.1), (other, 0.4))]
    features = [LinkFeaturesRow(other, ALIKE), LinkFeaturesRow(new, ROW)]
    replace_scores(database, *rows, *pulls, *features)
    learnt = LinkRelevance(scores)
    learnt.learn([], 0.1)
    assert history(database, crawl, OTHER)[1:] == [
        "  plus 0.5 x 1.0000 (what similar links led to) = 0.5000",
        "    1 is that of an average page",
    ]
    learnt.learn(features_of(ALIKE).tolist(), 0.4)
    (found,) = learnt.relevances(features_of(ROW)[None])
    _, about, *parts, last = history(database, crawl, NEW)
    assert about == f"  plus 0.5 x {found:.4f} (what similar links led to) = {found / 2:.4f}"
    assert parts[0] == "    0.625 is that of an average page"
    factors = [float(part.split()[1]) for part in parts[1:]]
    assert min(1.0, 0.625 * math.prod(factors)) == pytest.approx(found, rel=0.02)
    assert any(part.endswith(" by its place on the page") for part in parts)
    assert last == "  0 waiting pages of its site come before it"
    (_, fact) = read(score_facts, database, crawl.id, new, lambda: True)
    assert "too many pages" in fact.said.template


def test_promise_is_not_computed_when_the_time_is_over(database):
    crawl = learnt(database)
    (fact,) = read(score_facts, database, crawl.id, crawl.pages[NEW], lambda: True)
    assert "too many pages" in fact.said.template
