"""`scrapy lab report` shows the results of each site of a crawl, also while it runs."""

import re

import pytest
from sqlalchemy import update

from crawlers.errors import ConfigError
from crawlers.items import State
from crawlers.store.schema.tables import PullRow, site
from tests.support.sites.server import Web, links, pages
from tests.support.stored_pages import add_page
from tests.support.stored_rows import begin, execute, write_rows

BUDGET = 30


def rich(number, per_page):
    """A home page and *number* pages with the same number of external links."""
    bodies = {"/": links(*(f"/{n}" for n in range(number)))}
    for n in range(number):
        bodies[f"/{n}"] = links(*(f"http://x{n}-{i}.example/" for i in range(per_page)))
    return bodies


@pytest.fixture(scope="module")
def harvested(tmp_path_factory, new_project):
    """A crawl that used its budget on three sites, one of which is unavailable; and their origins."""
    project = new_project(tmp_path_factory.mktemp("report"), SITE_DELAY_SECONDS=0, RETRY_TIMES=0, CONCURRENT_REQUESTS=1)
    with Web(poor=pages(rich(40, 1)), good=pages(rich(40, 4)), gone=pages({})) as web:
        settings = {"RULE": "ucb1", "ORDER": "bfs", "UCB1_INITIAL_PAGES": 3, "PAGE_BUDGET": BUDGET}
        project.run("crawl", "extlinks", "-a", f"hosts={web.hosts()}", **settings).done()
        yield project, [site.origin for site in web.sites.values()]


def store(database, sites, pulls=(), **settings):
    """Store a crawl of *sites* sites with *pulls*: (number of the site, reward)."""
    names = [f"http://s{n:02}.example" for n in range(sites)]
    row = begin(database, *names, name="mine", mission="extlinks", **settings)
    write_rows(database, *(PullRow(row.sites[n].id, 1, reward, 0.0) for n, reward in pulls))


def cells(output):
    return {line.split()[0]: line.split() for line in output.splitlines()}


def test_table_has_pulls_rewards_and_index_of_every_site(harvested):
    project, (poor, good, gone) = harvested
    output = project.run("lab", "report").done().output
    pulls = project.query("SELECT s.site, p.reward FROM pull p JOIN site s ON s.id = p.site_id")
    total = int(sum(reward for _, reward in pulls))
    head = f"crawl extlinks (number 1, interrupted), RULE=ucb1, ORDER=bfs: {BUDGET} pages, {total} new links"
    assert output.splitlines()[0] == head
    assert output.splitlines()[1].split() == [
        "site",
        "pages",
        "share",
        "found",
        "per",
        "page",
        "recent",
        "index",
        "state",
    ]
    table = cells(output)
    for origin in (poor, good):
        own = [reward for site, reward in pulls if site == origin]
        mean = f"{sum(own) / len(own):.2f}"
        assert table[origin][1:6] == [str(len(own)), f"{len(own) / BUDGET:.1%}", f"{sum(own):.0f}", mean, mean]
        assert float(table[origin][6]) > 0
    assert " ".join(table[gone][1:]) == f"1 {1 / BUDGET:.1%} 0 0.00 0.00 due not available: status 404"
    assert [line.split()[0] for line in output.splitlines()[2:]] == [good, poor, gone], "the busiest one first"


def test_file_has_every_site_over_time(harvested, lab):
    project, origins = harvested
    output = lab(project, "report", "--every", "7", "--out", "sites.csv", "--crawl", "extlinks")
    assert output.splitlines()[-1] == "sites.csv: 15 lines"
    rows = project.table("sites.csv")
    assert [(row["pages"], row["site"]) for row in rows] == [
        (str(pages), origin) for pages in (7, 14, 21, 28, 30) for origin in origins
    ]
    for row in rows:
        own = project.query(
            "SELECT count(*), coalesce(sum(reward), 0.0) FROM (SELECT * FROM pull ORDER BY id LIMIT :n) p "
            "JOIN site s ON s.id = p.site_id WHERE s.site = :site",
            n=int(row["pages"]),
            site=row["site"],
        )
        assert (int(row["own_pages"]), float(row["found"])) == own[0]
        assert float(row["index"]) > 0


@pytest.mark.parametrize(("level", "text"), [(None, "read completely"), (5, "read completely down to level 5")])
def test_site_of_which_nothing_waits_is_read_completely(project, database, lab, level, text):
    store(database, 3, [(0, 1.0), (1, 2.0)], RULE="auto")
    sites = {name: number for number, name in project.query("SELECT id, site FROM site")}
    add_page(database, 1, sites["http://s00.example"], "http://s00.example/")
    add_page(database, 2, sites["http://s01.example"], "http://s01.example/", state=State.WAITING)
    execute(database, update(site).values(max_level=level))
    about = {line.split()[0]: line for line in lab(project, "report").splitlines()}
    assert about["http://s00.example"].endswith(f"  {text}")
    assert not any("read" in about[f"http://s0{n}.example"] for n in (1, 2))


def test_only_the_busiest_of_many_sites_are_shown(project, database, tmp_path, lab):
    store(database, 45, [(n, 1.0) for n in range(44) for _ in range(1 + (n > 3))], RULE="auto")
    output = lab(project, "report", "--out", "sites.csv")
    assert output.count("http://") == 40
    assert "and 5 sites with fewer pages; --out FILE.csv has all" in output
    assert "http://s04.example" in output
    assert "http://s03.example" not in output
    assert "http://s44.example" in (tmp_path / "sites.csv").read_text()


def test_current_yield_is_that_of_the_last_pages_of_a_site(project, database, lab):
    store(database, 2, [(0, 10.0)] * 50 + [(0, 2.0)] * 50, RULE="auto")
    table = cells(lab(project, "report"))
    assert table["http://s00.example"][1:6] == ["100", "100.0%", "600", "6.00", "2.00"]
    assert table["http://s01.example"][1:6] == ["0", "0.0%", "0", "-", "-"]


# Errors


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--every", "0"), "--every 0 is too small; expected at least 1"),
        (("--picture", "/proc/a.svg"), "--picture=/proc/a.svg can't be written"),
        (("--out", "."), "--out=. must end with .csv"),
        (("-s", "RULE_WAIT_SECONDS=much"), "RULE_WAIT_SECONDS='much' is not a number; write a number of 0 or more"),
    ],
)
def test_errors_are_reported_before_anything_is_done(harvested, lab, arguments, sentence):
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        lab(harvested[0], "report", "--out", "new.csv", *arguments)


def test_error_for_a_crawl_without_pulls_says_which_crawls_have_some(project, database, lab):
    store(database, 1, RULE="auto")
    with pytest.raises(ConfigError, match="CRAWL=mine has no figures: it has just begun"):
        lab(project, "report", "--out", "new.csv")
