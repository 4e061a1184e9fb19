"""A replay of a stored crawl gives the results of real runs, page by page, for every rule.

The pages of a crawl with their links to each other are read for replays.
"""

import re
from array import array
from contextlib import closing
from functools import cache
from itertools import pairwise

import pytest
from sqlalchemy import text

from crawlers.bandits.site_rules import REWARDS, RULES, RuleOptions
from crawlers.errors import ConfigError, StoreError
from crawlers.items import ExternalLink, LinkPlace, Page, State
from crawlers.lab.replay import KnownWeb, known_sites
from crawlers.ranking.link_features import link_features
from crawlers.store.database import Database
from crawlers.store.schema.tables import PageLinks, PullRow
from crawlers.store.writing.change_set import ChangeSet
from crawlers.store.writing.page_rows import add_page_rows
from crawlers.urls.keys import page_key
from tests.support.running import Project
from tests.support.sites.server import Web, links, pages
from tests.support.stored_links import LinkedPage, store_harvest
from tests.support.stored_rows import begin, execute, write_changes_of, write_rows

COMPARED = {name: make for name, make in RULES.items() if name != "best"}  # "best" requires an order with scores
BUDGET = 24
ONE_AT_A_TIME = ";1;;0"
ONE_REQUEST = {"CONCURRENT_REQUESTS": 1, "RULE": "auto"}
PULLS = """
    SELECT s.site, g.key, p.reward FROM pull p JOIN site s ON s.id = p.site_id JOIN page g ON g.id = p.page_id
    ORDER BY p.id"""
KEYS = "SELECT g.id, s.site, g.key FROM page g JOIN site s ON s.id = g.site_id"
EVERYWHERE = "http://everywhere.example/"


def external(name, number):
    return [f"http://{name}{n}.example/page" for n in range(number)]


def site(name, per_page, size):
    """A home page, pages with `per_page(n)` links on page *n*, and pages with errors."""
    bodies = {"/": links("/moved", "/missing", "/secret", "/away", "/folder", *(f"/{n}.html" for n in range(size)))}
    for n in range(size):
        deeper = f"/deep/{n}.html"
        bodies[f"/{n}.html"] = links("/", deeper, EVERYWHERE, *external(f"{name}{n}-", per_page(n)))
        bodies[deeper] = links(f"/{n}.html", EVERYWHERE, *external(f"{name}{n}-", per_page(n) + 1))
    bodies["/folder/"] = bodies["/landed"] = links("/0.html", *external(f"{name}-landed", 2))

    async def respond(exchange):
        moved = {"/moved": "/landed", "/folder": "/folder/", "/away": "http://elsewhere.example/"}
        if exchange.path in moved:
            await exchange.page(status=301, Location=moved[exchange.path])
        else:
            await pages(bodies, "User-agent: *\nDisallow: /secret")(exchange)

    return respond


def harvest(project, web, **settings):
    hosts = f"hosts={web.hosts(limits=ONE_AT_A_TIME)}"
    settings = {"ORDER": "bfs", "SITE_DELAY_SECONDS": 0, **settings}
    project.run("crawl", "extlinks", "-a", hosts, **settings).done()
    return project


@pytest.fixture(scope="module")
def web():
    """A web of three sites."""
    sites = {
        "poor": site("poor", lambda n: 0, 9),
        "rich": site("rich", lambda n: 6, 7),
        "late": site("late", lambda n: 3 * n * (n % 2), 8),
    }
    with Web(**sites) as web:
        yield web


@pytest.fixture(scope="module")
def full(web, tmp_path_factory, new_project):
    """A full crawl of the web with several parallel requests."""
    return harvest(new_project(tmp_path_factory.mktemp("full")), web)


@pytest.fixture(scope="module")
def real_run(web, tmp_path_factory):
    """Crawl with a rule and a budget, once; return the (site, key, reward) of each pull."""

    @cache
    def pulls(rule):
        project = Project(tmp_path_factory.mktemp("real"))
        return harvest(project, web, RULE=rule, PAGE_BUDGET=BUDGET, CONCURRENT_REQUESTS=1).query(PULLS)

    return pulls


@pytest.fixture(scope="module")
def known(full):
    """The web of the full crawl, whose rules are replayed: `known(rule)`."""
    with closing(Database(full.database_url, create=False)) as database:
        sites = known_sites(database, 1, REWARDS["new_links"])
    web = KnownWeb("bfs", sites, REWARDS["new_links"], {})
    return cache(lambda rule: web.run(COMPARED[rule](RuleOptions(page_budget=BUDGET)), BUDGET))


@pytest.mark.parametrize("rule", sorted(COMPARED))
def test_replay_chooses_the_pages_of_a_real_run(full, known, real_run, rule):
    real, run = real_run(rule), known(rule)
    keys = {number: (site, key) for number, site, key in full.query(KEYS)}
    rewards = [after - before for before, after in pairwise(run.found)]
    assert len(real) == BUDGET
    assert real == [(*keys[number], reward) for number, reward in zip(run.pages, rewards, strict=True)]


@pytest.mark.both_stores
def test_table_and_file_have_every_rule_and_the_oracle(full, known):
    lines = full.run("lab", "replay", "--budget", str(BUDGET), "--out", "rules.csv").done().output.splitlines()
    ((downloads, found),) = full.query("SELECT count(*), sum(reward) FROM pull")
    found = f"{downloads} downloads, {found:.0f} new links"
    assert lines[0] == f"crawl extlinks (number 1, finished), ORDER=bfs: 3 sites, {found}"
    assert lines[1] == "replayed with ORDER=bfs, by the links between the pages that the crawl read"
    assert lines[2].split()[:3] == ["rule", "3", "pages"]
    table = {line.split()[0]: line for line in lines[3:]}
    assert set(table) == {*COMPARED, "oracle", "omniscient", "in", "rules.csv:"}
    rows = full.table("rules.csv")
    assert {row["rule"] for row in rows} == set(COMPARED)
    for rule in COMPARED:
        run = known(rule)
        found = {int(row["pages"]): int(row["found"]) for row in rows if row["rule"] == rule}
        assert found == {pages: run.found[pages] for pages in found}
        assert max(found) == BUDGET
        assert f" {run.found[-1]} (" in table[rule]
        assert int(table[rule].split()[-2]) == run.urls


def test_replay_in_another_order_finds_what_a_real_run_finds(web, project, tmp_path_factory, lab):
    whole = harvest(project, web, ORDER="learnt", CONCURRENT_REQUESTS=1)
    for order in ("bfs", "learnt"):
        real = harvest(Project(tmp_path_factory.mktemp("real")), web, ORDER=order, PAGE_BUDGET=BUDGET, **ONE_REQUEST)
        found = sum(reward for _, _, reward in real.query(PULLS))
        output = lab(whole, "replay", "--order", order, "--budget", str(BUDGET), "--rules", "auto")
        assert f"replayed with ORDER={order}, by the links between the pages that the crawl read" in output
        (line,) = [line.split() for line in output.splitlines() if line.split()[0] == "auto"]
        assert abs(int(line[-4]) - found) <= 0.05 * found


def test_limits_of_a_replay_are_reported(project, lab):
    settings = {"ORDER": "bfs", "SITE_DELAY_SECONDS": 0, "SAVE_DUPLICATES": 0}
    bodies = {f"/{n}": links("http://a.example/") for n in range(4)}
    with Web(a=pages({"/": links(*bodies), **bodies})) as web:
        hosts = f"hosts={web.hosts()}"
        project.run("crawl", "extlinks", "-a", hosts, **settings, PAGE_BUDGET=2)
        warnings = [line for line in lab(project, "replay", "--budget", "1").splitlines() if line.startswith("note: ")]
        assert warnings == [
            "note: not all URLs of the crawl were read, so sites end where it stopped",
        ]
        project.run("crawl", "extlinks", "-a", hosts, **settings)
    with closing(Database(project.database_url)) as database, database.write() as connection:
        # As after Ctrl-C at the end, or if a file could not be written: the crawl goes on, but no URL is left.
        connection.exec_driver_sql("UPDATE crawl SET state = 'interrupted'")
    assert "sites end where it stopped" not in lab(project, "replay")
    assert "note: the rows of 3 duplicates were deleted (SAVE_DUPLICATES=0)" in lab(project, "replay")


# Errors


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--rules", "auto,best"), "--rules: 'best' is unknown; choose one of: roundrobin, "),
        (("--budget", "0"), "--budget 0 is too small; expected at least 1"),
        (("--crawl", "yours"), "CRAWL=yours: "),
        (("--order", "learnt"), "--order learnt: CRAWL=extlinks has ORDER=bfs, and only crawls with ORDER=learnt"),
        (("--picture", "a.gif"), "--picture=a.gif must end with .svg or .png"),
        (("--out", "/proc/rules.csv"), "--out=/proc/rules.csv can't be written"),
        (("-s", "REWARD=money"), "REWARD='money' is unknown; choose one of: links, new_hosts, new_links"),
        (("-s", "GITTINS_BATCH_PAGES=0"), "GITTINS_BATCH_PAGES='0' is out of range"),
        (("-s", "DATABASE_URL=sqlite:///other.sqlite"), "does not exist"),
    ],
)
def test_errors_are_reported_before_anything_is_done(full, lab, arguments, sentence):
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        lab(full, "replay", "--out", "new.csv", *arguments)


def test_crawl_that_read_nothing_can_not_be_replayed(project, database, lab):
    begin(database, "http://a.test", name="extlinks", mission="extlinks")
    with pytest.raises(ConfigError, match="CRAWL=extlinks has not read a page yet; crawl first"):
        lab(project, "replay")


A, B = "http://a.test", "http://b.test"
LINKED = LinkedPage("/news/", 1.0, "News")


def stored(database, **options):
    """A crawl of two sites; numbers of the pages of the first one by path."""
    crawl_id = store_harvest(database, {A: [LINKED, LinkedPage("/old", 0.0)], B: []}, **options)
    rows = database.rows(text(f"SELECT id, url FROM page WHERE url LIKE '{A}%'"))
    return crawl_id, {url.removeprefix(A): number for number, url in rows}


@pytest.mark.both_stores
def test_sites_have_their_pages_and_the_links_between_them(database):
    crawl_id, pages = stored(database)
    home, news, old = pages["/"], pages["/news/"], pages["/old"]
    execute(database, text(f"UPDATE site SET max_level = 2 WHERE site = '{A}'"))
    write_rows(database, PageLinks(home, {old: 1, news: 3}), PageLinks(news, {home: 1}))
    site, other = known_sites(database, crawl_id, REWARDS["new_links"])
    assert (site.site, site.home, site.max_level) == (A, home, 2)
    assert (other.site, len(other.pages), other.max_level) == (B, 1, None)
    links = {number: list(page.links) for number, page in site.pages.items()}
    assert links == {home: [news, old], news: [home], old: []}
    assert isinstance(site.pages[home].links, array)
    assert [page.downloads for page in site.pages.values()] == [1, 1, 1]
    row = link_features(A, f"{A}/news/", 1, 0, LinkPlace("ul/li", "ul/li", "News"))
    assert site.pages[news].features.tolist() == [*row]
    assert site.pages[home].features is None


def test_pages_have_their_redirects_repeated_downloads_and_rewarded_keys(database):
    crawl_id, pages = stored(database)
    urls = ["http://x.test/1", "http://x.test/2"]
    links = [(ExternalLink(url, page_key(url), "http://x.test", "", "", "", "", "a"), 1) for url in urls]
    changes = ChangeSet()
    read = Page(pages["/news/"], f"{A}/news/", 200, State.DONE, external=links)
    add_page_rows(changes, read, {}, attempts=2, fetched_at=0.0, now=0.0, moved_to=None)
    moved = Page(pages["/old"], f"{A}/old", 301, State.MOVED)
    add_page_rows(changes, moved, {}, attempts=1, fetched_at=0.0, now=0.0, moved_to=pages["/news/"])
    site_id = database.scalar(text(f"SELECT id FROM site WHERE site = '{A}'"))
    changes.add(PullRow(site_id, pages["/news/"], 0.0, 2.0))
    write_changes_of(database, changes)
    for reward, number in (("new_links", 2), ("new_hosts", 1)):
        site = known_sites(database, crawl_id, REWARDS[reward])[0]
        assert len(site.pages[pages["/news/"]].keys) == number
    assert {one.key for one in site.pages[pages["/news/"]].external} == {page_key(url) for url in urls}
    assert site.pages[pages["/news/"]].downloads == 2
    assert site.pages[pages["/old"]].moved_to == pages["/news/"]
    execute(database, text("DELETE FROM pull"))  # as of a crawl that counts no rewards
    execute(database, text("UPDATE page SET attempts = id"))
    for number, page in known_sites(database, crawl_id, REWARDS["links"])[0].pages.items():
        assert page.downloads == number


@pytest.mark.parametrize("features", ["AQA", "ж", "////"])
def test_damaged_features_name_the_store(database, features):
    crawl_id, _ = stored(database)
    execute(database, text(f"UPDATE link_features SET features = '{features}'"))
    with pytest.raises(StoreError, match=re.escape(f"{database.name} is damaged: features of a link cannot")):
        known_sites(database, crawl_id, REWARDS["links"])
