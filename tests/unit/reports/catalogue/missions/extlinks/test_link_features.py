"""What a crawl learnt of links is told by features with names."""

import numpy as np
import pytest

from crawlers.errors import StoreError
from crawlers.items import LinkPlace
from crawlers.ranking.link_features import link_features
from crawlers.ranking.link_values import text_of
from crawlers.reports.catalogue.conditions import Filters
from crawlers.reports.catalogue.registry import report_named
from crawlers.store.schema.tables import LinkFeaturesRow, PullRow
from tests.support.scored_store import A, Linked, store
from tests.support.stored_rows import write_rows

POOR, RICH = [f"{A}/docs/{n}" for n in range(5)], [f"{A}/news/story-{n}" for n in range(5)]


@pytest.mark.both_stores
def test_features_of_rich_pages_come_first(database):
    crawl = store(database, [Linked(url) for url in (*POOR, *RICH)], order="bfs", mission="extlinks")
    for url in (*POOR, *RICH):
        features = text_of(np.array(link_features(A, url, 0, 0, LinkPlace("ul/li", "ul/li", "")), np.uint32))
        pull = PullRow(crawl.sites[A], crawl.pages[url], 9.0 if url in RICH else 0.0, 0.0)
        write_rows(database, LinkFeaturesRow(crawl.pages[url], features), pull)
    with database.read() as connection:
        rows = report_named("link-features").result(connection, crawl.id, Filters()).rows
    assert [row[0] for row in rows] == sorted((row[0] for row in rows), reverse=True)
    found = {tuple(row[1:4]): (row[0], *row[4:]) for row in rows}
    rich, poor = found["url", "story", ""], found["url", "docs", ""]
    assert (rich[1:], poor[1:]) == ((5, 45.0), (5, 0.0))
    assert rich[0] > 1 > poor[0]
    assert found["site", A, A][1] == 10
    assert ("directory", "/news/", A) in found
    assert not {kind for kind, *_ in found} & {"place", "path", "group"}, "only their numbers are stored"


@pytest.mark.parametrize(
    ("reward", "features", "message"),
    [(1.0, "AAA", "features of a link cannot be read"), (-1.0, text_of(np.ones(1, np.uint32)), "-1.0 of a page")],
)
def test_damaged_rows_are_an_error_in_words(sqlite, reward, features, message):
    crawl = store(sqlite, [Linked(POOR[0])], order="bfs", mission="extlinks")
    pull = PullRow(crawl.sites[A], crawl.pages[POOR[0]], reward, 0.0)
    write_rows(sqlite, LinkFeaturesRow(crawl.pages[POOR[0]], features), pull)
    with sqlite.read() as connection, pytest.raises(StoreError, match=message):
        report_named("link-features").result(connection, crawl.id, Filters())
