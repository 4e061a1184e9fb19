"""What a crawl learnt of links is told by features with names."""

import numpy as np
import pytest

from crawlers.items import LinkPlace
from crawlers.ranking.link_features import link_features
from crawlers.ranking.link_values import text_of
from crawlers.reports.catalogue.score_reports import feature_worths
from crawlers.store.schema.tables import LinkFeaturesRow, PullRow
from tests.support.scored_store import A, Linked, store
from tests.support.stored_rows import write_rows

POOR, RICH = [f"{A}/docs/{n}" for n in range(4)], [f"{A}/news/story-{n}" for n in range(4)]


@pytest.fixture
def crawl(database):
    """A crawl that read pages in two folders, of which one brings links; their links stand at one place."""
    found = store(database, [Linked(f"{A}/"), *(Linked(url) for url in (*POOR, *RICH))], order="bfs")
    for url in (*POOR, *RICH):
        features = text_of(np.array(link_features(A, url, 0, 0, LinkPlace("ul/li", "ul/li", "")), np.uint32))
        pull = PullRow(found.sites[A], found.pages[url], 9.0 if url in RICH else 0.0, 0.0)
        write_rows(database, LinkFeaturesRow(found.pages[url], features), pull)
    return found


def test_features_of_rich_pages_come_first(database, crawl):
    worths = feature_worths(database, crawl.id, 2)
    assert [one.weight for one in worths] == sorted((one.weight for one in worths), reverse=True)
    by_name = {(one.kind, one.text): one for one in worths}
    rich, poor = by_name["url", "story"], by_name["url", "docs"]
    assert (rich.pages, rich.found, rich.site) == (4, 36.0, "")
    assert (poor.pages, poor.found) == (4, 0.0)
    assert rich.weight > 0 > poor.weight
    assert by_name["site", A].pages == 8
    assert not any(kind in ("place", "path", "group") for kind, _ in by_name), "only their numbers are stored"


@pytest.mark.both_stores
def test_directory_is_a_path_on_its_site(database, crawl):
    directories = [one for one in feature_worths(database, crawl.id, 4) if one.kind == "directory"]
    assert [(one.text, one.site) for one in directories] == [("/news/", A), ("/docs/", A)]
