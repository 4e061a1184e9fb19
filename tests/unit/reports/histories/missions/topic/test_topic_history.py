"""The history of a page of a topic crawl has its score and similarity."""

import json
import math

import pytest

from crawlers.missions.topic.topic_scores import LinkRelevance, TopicScores
from crawlers.missions.topic.topic_tables import RelevanceRow, TopicPageRow
from crawlers.missions.topic.vectors import DEFAULT_STRATEGY, STRATEGIES, Weights
from crawlers.ranking.link_values import features_of
from crawlers.reports.histories.score_history import score_facts
from crawlers.store.schema.tables import LinkFeaturesRow, OrderTotalsRow, PullRow
from tests.support.scored_history import ALIKE, HOME, NEW, OTHER, PAGES, ROW, history, replace_scores
from tests.support.scored_store import A, store
from tests.support.stored_rows import read


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
