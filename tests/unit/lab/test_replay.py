"""A replay of a stored crawl gives the results of real runs, page by page, for every rule."""

import re
from contextlib import closing
from functools import cache
from itertools import pairwise

import pytest

from crawlers.bandits.reward_kinds import REWARDS
from crawlers.bandits.site_rules import RULES, RuleOptions
from crawlers.errors import ConfigError
from crawlers.lab.replay import KnownWeb, known_sites
from crawlers.store.database import Database
from tests.support.running import Project
from tests.support.sites.server import Web, links, pages
from tests.support.stored_rows import begin

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
