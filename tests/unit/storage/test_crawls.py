"""Crawls are begun, resumed and ended, and discover sites."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, text

from crawlers.errors import ConfigError
from crawlers.items import State
from crawlers.storage import crawls
from crawlers.storage.bulk_writer import write_changes
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.crawls import SiteRow, found_site
from crawlers.storage.schema.tables import NewPage, SiteAvailability, crawl, crawler_setting, seed, site
from tests.support.stored_rows import add_sites

if TYPE_CHECKING:
    from crawlers.storage.database import Database

A = SiteRow(0, "http://a.test", 2, None, 1.0)
B = SiteRow(0, "http://b.test", 1, 3, 0.5)
C = SiteRow(0, "http://c.test", 1, None, 1.0)
MANIFEST = {"settings": {"RULE": "roundrobin", "MAX_LEVEL": None, "TAGS": ["a"]}, "seeds": ["http://a.test"]}


def begin(database: Database, *sites: SiteRow, name: str = "daily", mission: str = "sitegraph") -> crawls.CrawlRow:
    return crawls.begin(database, name, mission, sites, MANIFEST, 5.0)


def crawl_rows(database: Database) -> list[tuple[object, ...]]:
    columns = (crawl.c.id, crawl.c.state, crawl.c.started_at, crawl.c.ended_at, crawl.c.reason)
    with database.read() as connection:
        return [tuple(row) for row in connection.execute(select(*columns).order_by(crawl.c.id))]


def test_new_crawl_has_its_sites_and_settings(database: Database) -> None:
    row = begin(database, A, B)
    assert (row.name, row.resumed) == ("daily", False)
    assert [(s.site, s.parallel, s.max_level, s.delay_s) for s in row.sites] == [
        ("http://a.test", 2, None, 1.0),
        ("http://b.test", 1, 3, 0.5),
    ]
    assert len({s.id for s in row.sites}) == 2
    assert crawl_rows(database) == [(row.id, "running", 5.0, None, None)]
    with database.read() as connection:
        stored = dict(list(connection.execute(select(crawler_setting.c.name, crawler_setting.c.value))))
        assert stored == {"RULE": "roundrobin", "MAX_LEVEL": "None", "TAGS": "['a']"}
        assert connection.execute(select(seed.c.start_url).order_by(seed.c.id)).scalars().all() == [
            "http://a.test/",
            "http://b.test/",
        ]


def test_killed_crawl_is_resumed_with_today_s_limits(database: Database) -> None:
    first = begin(database, A)
    second = begin(database, SiteRow(0, "http://a.test", 9, 4, 0.0), B)
    assert (second.id, second.resumed) == (first.id, True)
    assert second.sites[0].id == first.sites[0].id
    with database.read() as connection:
        limits = connection.execute(select(site.c.parallel, site.c.max_level, site.c.delay_s).order_by(site.c.id))
        assert [tuple(row) for row in limits] == [(9, 4, 0.0), (1, 3, 0.5)]


def test_site_belongs_to_its_current_seed(database: Database) -> None:
    begin(database, A)
    with database.write() as connection:
        connection.execute(seed.delete())
        connection.execute(seed.insert().values(id=9, site="http://a.test", start_url="http://a.test/"))
    begin(database, A)
    with database.read() as connection:
        assert connection.execute(select(site.c.seed_id)).scalars().all() == [9]


def test_interrupted_crawl_is_resumed_and_a_finished_one_is_followed_by_a_new_one(database: Database) -> None:
    first = begin(database, A)
    crawls.end(database, first.id, finished=False, reason="stop_file", now=6.0)
    assert crawl_rows(database) == [(first.id, "interrupted", 5.0, 6.0, "stop_file")]
    assert begin(database, A).id == first.id
    assert crawl_rows(database) == [(first.id, "running", 5.0, None, None)]
    crawls.end(database, first.id, finished=True, reason="finished", now=7.0)

    second = begin(database, A)
    assert second.id != first.id
    assert not second.resumed
    assert second.sites[0].id != first.sites[0].id, "two crawls of a seed share no pages"
    with database.read() as connection:
        assert connection.execute(select(seed.c.site)).scalars().all() == ["http://a.test"]


def test_crawls_of_different_names_are_independent(database: Database) -> None:
    assert begin(database, A).id != begin(database, A, name="other").id


def test_unfinished_crawl_of_another_mission_is_not_resumed(database: Database) -> None:
    begin(database, A)
    with pytest.raises(
        ConfigError, match="unfinished crawl of the mission sitegraph, not news; give this crawl another"
    ):
        begin(database, A, mission="news")
    assert [row[1] for row in crawl_rows(database)] == ["running"]


@pytest.mark.parametrize(
    ("setting", "today"),
    [
        ("URL_DROP_VALUELESS_PARAMETERS", "True"),
        ("URL_IGNORED_PARAMETERS", "['ref']"),
        ("URL_LOWER_CASE", "True"),
    ],
)
def test_url_rules_cannot_be_changed_while_keys_by_them_are_stored(
    database: Database, setting: str, today: str
) -> None:
    rules = {"RULE": "ucb1", "URL_DROP_VALUELESS_PARAMETERS": "False", "URL_LOWER_CASE": "False"}
    crawls.begin(database, "c", "m", [A], {"settings": rules | {"URL_IGNORED_PARAMETERS": "['utm_*']"}}, 0.0)
    with pytest.raises(ConfigError, match=rf"^{setting}=.*the unfinished crawl c began with {setting}=.*CRAWL=another"):
        crawls.begin(database, "c", "m", [A], {"settings": {setting: today}}, 1.0)
    assert crawls.begin(database, "c", "m", [A], {"settings": {"RULE": "gittins"}}, 1.0).resumed


def test_robots_txt_is_kept_when_a_crawl_is_resumed(database: Database) -> None:
    begin(database, A)
    with database.write() as connection:
        connection.execute(text("UPDATE site SET robots_status = 200, robots_text = 'x'"))
    (row,) = begin(database, A).sites
    assert (row.robots_status, row.robots_text) == (200, "x")


def test_site_that_is_added_twice_has_one_row(database: Database) -> None:
    row = begin(database, A)
    assert add_sites(database, row.id, B)[0].id == add_sites(database, row.id, B)[0].id
    assert add_sites(database, row.id, A)[0].id == row.sites[0].id


def test_discovered_sites_are_written_with_their_seeds(database: Database) -> None:
    crawl_id = begin(database, A).id
    other = begin(database, B, name="other")
    found = [SiteRow(number, f"http://{name}.test", 1, None, 0.5) for number, name in ((10, "c"), (11, "d"), (12, "b"))]
    changes = ChangeSet()
    for row in found:
        changes.extend(found_site(crawl_id, row))
    with database.write() as connection:
        write_changes(connection, changes)
        seeds = connection.execute(
            select(seed.c.site, seed.c.id, seed.c.enabled, seed.c.is_found).order_by(seed.c.site)
        ).all()
        columns = (site.c.id, site.c.site, site.c.seed_id, site.c.delay_s, site.c.is_open)
        sites = connection.execute(
            select(*columns).where(site.c.crawl_id == crawl_id, site.c.id >= 10).order_by(site.c.id)
        ).all()
    numbers = {row.site: row.id for row in seeds}
    assert [row.site for row in seeds if row.is_found] == ["http://c.test", "http://d.test"]
    assert not any(row.enabled for row in seeds)
    assert sites == [(row.id, row.site, numbers[row.site], 0.5, True) for row in found]
    assert other.sites[0].site == "http://b.test", "which is a seed already"


def test_unavailable_site_is_retried_after_a_stop_but_not_after_a_kill(database: Database) -> None:
    row = SiteRow(0, "http://a.test", 1, None, 0.0)
    crawl = crawls.begin(database, "c", "m", [row], {}, 0.0)
    with database.write() as connection:
        place = (1, crawl.sites[0].id, 1, "http://a.test/", 0, 0, 0, 0.0)
        home = NewPage(*place, int(State.FAILED), "timeout", None, None, 0.0, 0.0, 0)
        write_changes(connection, ChangeSet(home, SiteAvailability(crawl.sites[0].id, "timeout")))

    def states() -> tuple[int, str | None]:
        with database.read() as connection:
            state = connection.execute(text("SELECT state FROM page")).scalar()
            return state, connection.execute(text("SELECT availability FROM site")).scalar()

    crawls.begin(database, "c", "m", [row], {}, 1.0)
    assert states() == (State.FAILED, "timeout"), "a kill must not change the result"
    crawls.end(database, crawl.id, finished=False, reason="page_budget", now=2.0)
    crawls.begin(database, "c", "m", [row], {}, 3.0)
    assert states() == (State.WAITING, None)


def test_sites_keep_the_order_of_the_first_run(database: Database) -> None:
    a, b, c = (SiteRow(0, f"http://{name}.test", 1, None, 0.0) for name in "abc")
    first = crawls.begin(database, "c", "m", [a, b], {}, 0.0)
    again = crawls.begin(database, "c", "m", [c, b, a], {}, 1.0)
    assert [row.site for row in again.sites] == ["http://a.test", "http://b.test", "http://c.test"]
    assert [row.id for row in again.sites[:2]] == [row.id for row in first.sites]


def test_resumed_crawl_includes_the_discovered_sites_that_are_still_in_scope(database: Database) -> None:
    first = begin(database, A, B)
    found = SiteRow(0, "http://sport.a.test", 1, None, 0.0)
    with database.write() as connection:
        write_changes(connection, found_site(first.id, replace(found, id=77)))

    def resumed(*sites: SiteRow, domain: str = "") -> list[str]:
        keeps = (lambda row: row.site.endswith(domain) and not row.start_url) if domain else None
        again = crawls.begin(database, "daily", "sitegraph", sites, MANIFEST, 7.0, keeps=keeps)
        with database.read() as connection:
            opened = connection.execute(select(site.c.site).where(site.c.is_open).order_by(site.c.id)).scalars().all()
        assert [row.site for row in again.sites] == opened
        assert again.excluded == {"http://a.test", "http://b.test", "http://sport.a.test"}.difference(opened)
        return [name.removeprefix("http://") for name in opened]

    assert resumed(A, domain="a.test") == ["a.test", "sport.a.test"]
    assert resumed(B, domain="b.test") == ["b.test"]
    assert resumed(A) == ["a.test"]
    sport = replace(found, start_url="http://sport.a.test/")
    assert resumed(A, sport) == ["a.test", "sport.a.test"]
    assert resumed(A, domain="a.test") == ["a.test"]
    add_sites(database, first.id, found)
    assert resumed() == ["a.test", "b.test", "sport.a.test"]
    with database.read() as connection:
        seeds = connection.execute(select(seed.c.site, seed.c.is_found)).all()
    assert [name for name, is_found in seeds if is_found] == ["http://sport.a.test"]


class Letters:
    """Selects the URLs that contain one of the *letters*."""

    def __init__(self, letters: str) -> None:
        self.letters = letters
        self.judged: list[str] = []

    def fingerprint(self, row: SiteRow) -> str:
        return self.letters

    def reason_against(self, row: SiteRow, url: str, level: int) -> str | None:
        self.judged.append(url[-1])
        return None if level == 0 or url[-1] in self.letters else f"{crawls.NOT_SELECTED}: {url[-1]}"


def test_resumed_crawl_selects_its_waiting_pages_anew_if_the_selection_changed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawls, "RESELECTED", 2)

    def run(letters: str, max_level: int | None = None) -> tuple[list[str], bool]:
        selection = Letters(letters)
        row = replace(A, max_level=max_level)
        begun = crawls.begin(database, "daily", "sitegraph", [row], MANIFEST, 5.0, selection=selection)
        return selection.judged, begun.has_grown

    def states() -> dict[str, tuple[State, str | None]]:
        with database.read() as connection:
            rows = connection.execute(text("SELECT url, state, reason FROM page ORDER BY id"))
            return {url[-1]: (State(state), reason) for url, state, reason in rows}

    assert run("") == ([], False)
    with database.write() as connection:
        site_id = connection.execute(select(site.c.id)).scalar_one()
        found = {"a": (0, 0, None), "b": (1, 0, None), "c": (9, 0, None), "d": (1, 1, None), "e": (1, 5, "extension e")}
        pages = [
            NewPage(n, site_id, n, f"http://a.test/{name}", 0, level, 0, 0.0, state, reason, None, None, 0.0, 0.0, 0)
            for n, (name, (level, state, reason)) in enumerate(found.items(), 1)
        ]
        write_changes(connection, ChangeSet(*pages))
    assert run("") == ([], False)  # nothing changed
    waits, done = (State.WAITING, None), (State.DONE, None)
    assert run("x") == (["a", "b", "c"], False)
    no = {name: (State.REJECTED, f"not selected: {name}") for name in "bc"}
    assert states() == {"a": waits, **no, "d": done, "e": (State.REJECTED, "extension e")}
    assert run("bc", max_level=3) == (["a", "b", "c"], True)
    assert states()["b"] == waits
    assert states()["c"] == (State.REJECTED, "too deep: level 9, the limit is 3")
    assert run("bc", max_level=3) == ([], True)  # remembered until the crawl ends
