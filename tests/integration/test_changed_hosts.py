"""Hosts and limits change between the runs of a crawl, and the graphs are those of one run."""

import pytest

from tests.support.running import Project
from tests.support.sites.server import Web, links, pages

PAGES = 14
SOME = {"CLOSESPIDER_PAGECOUNT": 6, "CONCURRENT_REQUESTS": 1}  # stops in the middle of the first sites
TREE = {"/": links("/1", "/2"), **{f"/{n}": links("/", f"/{2 * n + 1}", f"/{2 * n + 2}") for n in range(1, PAGES)}}


@pytest.fixture(scope="module")
def web():
    with Web(one=pages(TREE), two=pages(TREE), three=pages(TREE)) as served:
        yield served


@pytest.fixture(scope="module")
def undisturbed(web, tmp_path_factory):
    """The graphs of one run without limits."""
    project = Project(tmp_path_factory.mktemp("undisturbed"))
    assert project.crawl(hosts(web, "one", "two", "three")).status == 0
    return project.files()


@pytest.fixture(autouse=True)
def _forget(web):
    for site in web.sites.values():
        site.requests.clear()


def hosts(web, *names, limits=";1;;0"):
    return ",".join(f"{web[name].origin}{limits}" for name in names) + ","


def test_added_host_is_crawled_and_a_removed_one_is_left_alone_until_it_comes_back(web, project, undisturbed):
    assert project.crawl(hosts(web, "one", "two"), **SOME).status == 0
    assert project.outcomes == [("interrupted", "closespider_pagecount")]
    before = len(web["one"].requests)
    without = project.crawl(hosts(web, "three", "two")).done()
    (line,) = (line for line in without.log.splitlines() if "goes on with another host list" in line)
    assert "unfinished crawl plain" in line
    assert "new: 1 site; missing and left alone until they are listed again: 1 site with " in line
    assert line.endswith("; for a crawl of this list alone, give this crawl another name: -s CRAWL=another")
    assert len(web["one"].requests) == before
    assert project.states == ["interrupted"]
    alone = project.crawl(hosts(web, "two"), CRAWL="another", RESULT_FOLDER="alone")
    assert "Crawl another begins: 1 site" in alone.log
    assert "another host list" not in alone.log
    ended = project.crawl(hosts(web, "one", "two", "three")).done()
    assert "goes on with another host list" not in ended.log
    assert project.states == ["finished", "finished"]
    assert project.files() == undisturbed
    assert len(web["three"].paths) == len(set(web["three"].paths))


def test_lowered_level_ends_the_crawl_there(web, project):
    assert project.crawl(hosts(web, "one"), **SOME).status == 0
    assert project.crawl(hosts(web, "one", limits=";1;1;0")).status == 0
    assert project.states == ["finished"]
    reasons = {reason for _, reason in project.pages(web["one"].origin).values()}
    assert any(reason.startswith("too_deep 2 1") for reason in reasons)


def test_another_scheme_or_port_is_another_site(web, project, undisturbed):
    old = web["one"].origin.replace("http://", "https://")  # whoever corrects the list, after nothing answered
    first = project.crawl(f"{old};1;;0,", RETRY_TIMES=0, DOWNLOAD_TIMEOUT=1, **SOME)
    assert first.status == 3, first.log
    assert project.crawl(hosts(web, "one")).status == 0
    name = web["one"].origin.removeprefix("http://").replace(":", "_") + ".gexf"
    assert project.files()[name] == undisturbed[name]
    assert [one for one in project.files() if one.endswith(".gexf")] == [name]
