"""`scrapy lab topic` compares stored crawls, and replays agree with real runs by other strategies."""

from __future__ import annotations

import re
from contextlib import closing

import pytest

from crawlers.errors import ConfigError
from crawlers.items import State
from crawlers.missions.topic.edge.lab_of_topics import links_between, replayed
from crawlers.missions.topic.topic_file import topic_terms
from crawlers.missions.topic.vectors import STRATEGIES
from crawlers.store.database import Database
from tests.support.command_topic_web import LinkedSites, crawl
from tests.support.missions.topic.topic_store import add_page, begin_topic
from tests.support.stored_pages import add_links
from tests.support.stored_rows import begin, write_rows

BUDGET = 30


@pytest.fixture(scope="module")
def stored(tmp_path_factory, new_project):
    """A project with a crawl for each strategy, and the pages each read."""
    project = new_project(tmp_path_factory.mktemp("topic"))
    with LinkedSites() as sites:
        sites.prepare(project)
        read = {name: crawl(project, name, CRAWL=name, PAGE_BUDGET=BUDGET) for name in STRATEGIES}
    return project, read


@pytest.fixture
def read_database(stored):
    with closing(Database(stored[0].database_url, create=False)) as opened:
        yield opened


def cells(output, title):
    """Return the table below the line that begins with *title*, by run."""
    table = output.split(f"\n{title}")[1].split("\n\n")[0].splitlines()[2:]
    return {line.split()[0]: line.split()[1:] for line in table if ".csv:" not in line and ".svg:" not in line}


# Replays


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_replay_of_the_same_strategy_chooses_the_pages_of_the_real_run(stored, read_database, strategy):
    project, read = stored
    runs = replayed(read_database, strategy, None, [strategy], len(read[strategy]))
    assert 20 < len(read[strategy]) < BUDGET
    known = dict(project.query("SELECT id, url FROM page"))
    assert [known[number] for number in runs.read[strategy]] == read[strategy]
    assert runs.unknown == {strategy: 0}


@pytest.mark.both_stores
def test_pages_that_the_crawl_never_read_are_skipped_and_counted(stored, lab):
    project, read = stored
    output = lab(project, "topic", "--crawl", "anchor", "--strategies", "breadth,anchor")
    waiting = project.query(
        "SELECT count(*) FROM page p JOIN site s ON s.id = p.site_id JOIN crawl c ON c.id = s.crawl_id "
        "WHERE c.name = 'anchor' AND p.state = 0"
    )[0][0]
    assert waiting > 0
    share = waiting / (waiting + len(read["anchor"]))
    lines = output.splitlines()
    assert lines[3] == (
        f"note: pages that the crawl never read were skipped, up to {share:.0%} of those chosen "
        f"(breadth {waiting}, anchor {waiting}); a larger crawl gives a better replay"
    )
    number = len(read["anchor"])
    assert lines[4] == f"note: nothing was left to read after: breadth {number}, anchor {number} pages"


# Crawls as they ran


def test_crawls_are_measured_by_all_pages_that_any_of_them_read(stored, lab):
    project, read = stored
    output = lab(project, "topic", "--crawls", ",".join(STRATEGIES), "--out", "a.csv")
    together = {url for name in STRATEGIES for url in read[name]}
    lines = output.splitlines()
    assert lines[0] == "crawls learnt, anchor, breadth, links, mixed as they ran"
    assert lines[1] == "topic: text 0.71, unicod 0.71"
    assert lines[2].startswith(f"measured by the {len(together)} pages that any of them read")
    for title in ("average similarity of the pages read", "share of the", "share of the"):
        assert list(cells(output, title)) == list(STRATEGIES)
    rows = project.table("a.csv")
    assert {row["run"] for row in rows} == set(STRATEGIES)
    assert list(rows[0]) == ["run", "pages", "similarity", "authorities", "hubs", "nearest"]
    at_10 = next(row for row in rows if row["run"] == "anchor" and row["pages"] == "10")
    assert f"{float(at_10['similarity']):.4f}" in cells(output, "average similarity")["anchor"]


# Errors


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--strategies", "anchor,best"), "'best' is unknown; choose one of: learnt, anchor, breadth, links, mixed"),
        (("--crawls", "anchor", "--strategies", "links"), "leave out either"),
        (("--crawls", "anchor,nobody"), "has no crawl of that name"),
    ],
)
def test_errors_are_reported_before_anything_is_done(stored, lab, arguments, sentence):
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        lab(stored[0], "topic", "--out", "new.csv", *arguments)


def begun(project, *topics):
    """A store with a crawl that has read nothing for each of *topics*."""
    with closing(Database(project.database_url)) as read_database:
        for number, terms in enumerate(topics):
            row = begin(read_database, "http://a.test", name=f"crawl{number}", mission="topic")
            if terms:
                write_rows(read_database, topic_terms(row.id, terms))


def test_crawls_of_different_topics_are_not_compared(project, lab):
    begun(project, {"unicod": 1.0}, {"databas": 1.0})
    with pytest.raises(ConfigError, match=r"crawl0 and crawl1 have different topics \(unicod; databas\); compare"):
        lab(project, "topic", "--crawls", "crawl0,crawl1")


@pytest.mark.parametrize("arguments", [("--crawl", "crawl0"), ("--crawls", "crawl0")])
def test_crawl_without_pages_or_without_a_topic_is_refused(project, lab, arguments):
    begun(project, {"unicod": 1.0}, {})
    with pytest.raises(ConfigError, match="CRAWL=crawl0 has not read a page yet; crawl first"):
        lab(project, "topic", *arguments)
    with pytest.raises(ConfigError, match="CRAWL=crawl1 has no topic; name a crawl of scrapy crawl topic"):
        lab(project, "topic", arguments[0], "crawl1")


@pytest.mark.both_stores
def test_links_between_pages_lead_to_redirect_targets_and_loops_have_none(database):
    crawl_id, (a, b) = begin_topic(database, unicod=1.0)
    add_page(database, 1, a, "http://a.test/", {"unicod": 1})
    add_page(database, 2, b, "http://b.test/read", {"font": 2})
    add_page(database, 3, b, "http://b.test/old", state=int(State.MOVED), moved_to=2)
    add_page(database, 4, b, "http://b.test/gone", state=int(State.REFUSED))
    add_page(database, 5, a, "http://a.test/5", state=int(State.MOVED), moved_to=6)
    add_page(database, 6, a, "http://a.test/6", state=int(State.MOVED), moved_to=5)
    add_links(database, (1, 2, 2), (1, 3, 1), (1, 4, 1), (1, 5, 1), (2, 3, 1), (2, 1, 1), (2, 4, 1))
    assert list(links_between(database, crawl_id)) == [(1, 2), (1, 2), (2, 1), (2, 2)]
