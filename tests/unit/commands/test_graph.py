"""`scrapy graph` writes the requested files, or reports the error in one sentence."""

import csv

import networkx
import pytest

from crawlers.cli.graph_results import FRAGMENT
from crawlers.errors import ConfigError
from crawlers.files.atomic import file_stem
from crawlers.plurals import plural
from crawlers.reports.site_results import TABLES
from crawlers.sites.hosts_file import parse_hosts
from tests.support.running import Project
from tests.support.sites.server import Web, links, pages

BODIES = {"/": links("/a"), "/a": "<p>a"}


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def stem(origin):
    return origin.removeprefix("http://").replace(":", "_")


@pytest.mark.both_stores
def test_graph_writes_byte_identical_files_of_all_sites(crawled, tmp_path):
    project, first_site, second_site = crawled
    outcome = project.run("graph", "--folder", str(tmp_path)).done()
    endings = (".gexf", *(f".{name}.csv" for name in TABLES))
    assert names(tmp_path) == sorted(stem(site) + ending for site in (first_site, second_site) for ending in endings)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (project.folder / "result" / path.name).read_bytes()
    assert "6 pages, 8 edges" in outcome.output


def test_graph_writes_the_named_site_in_the_named_formats(crawled, tmp_path):
    project, first_site, _ = crawled
    formats = ("--format", "csv", "--format", "graphml")
    project.run("graph", first_site + "/", "--folder", str(tmp_path), *formats).done()
    name = stem(first_site)
    assert names(tmp_path) == [f"{name}.edges.csv", f"{name}.graphml", f"{name}.nodes.csv"]
    graph = networkx.read_graphml(tmp_path / f"{name}.graphml")
    assert graph.number_of_nodes() == 6  # home, a, copy, leaf, b, landed
    assert len((tmp_path / f"{name}.edges.csv").read_text().splitlines()) == graph.number_of_edges() + 1


def test_graph_of_one_site_is_drawn_and_written_as_a_page(crawled, tmp_path):
    project, first_site, _ = crawled
    paths = [tmp_path / "a.svg", tmp_path / "a.html"]
    options = ("--picture", str(paths[0]), "--html", str(paths[1]))
    outcome = project.run("graph", first_site, *options).done()
    assert outcome.output.splitlines() == [f"{path}: 6 pages, 8 edges" for path in paths]
    assert "<svg" in paths[0].read_text("utf-8")
    assert f"{first_site}/a.html" in paths[1].read_text("utf-8")
    assert project.run("graph", "--level", "site", *options).status == 0
    assert '["outside.example"' in paths[1].read_text("utf-8")


def test_two_crawls_are_compared(tmp_path):
    project = Project(tmp_path)
    paths = ["/gone", "/same"]

    async def site(exchange):
        await pages({"/": links(*paths), **{path: f"<p>{path}" for path in paths}})(exchange)

    with Web(a=site) as web:
        assert project.crawl(web.hosts()).status == 0
        paths[0] = "/fresh"
        assert project.crawl(web.hosts()).status == 0
    outcome = project.run("graph", "--diff", "1", "2", "--folder", str(tmp_path / "diff")).done()
    assert "pages: 1 appeared, 1 vanished, 1 changed, 1 unchanged" in outcome.output


@pytest.mark.both_stores
def test_graph_of_sites_includes_the_sites_that_they_link_to(crawled, tmp_path):
    project, first_site, second_site = crawled
    formats = ("--format", "gexf", "--format", "csv")
    outcome = project.run("graph", "--level", "site", "--folder", str(tmp_path), "--crawl", "mine", *formats).done()
    tables = ["web_fragment.edges.csv", "web_fragment.gexf", "web_fragment.nodes.csv", "web_fragment.pairs.csv"]
    assert names(tmp_path) == ["accompanying.csv", *tables]
    graph = networkx.read_gexf(tmp_path / "web_fragment.gexf")
    labels = dict(graph.nodes(data="label"))
    first, second = (site.removeprefix("http://") for site in (first_site, second_site))
    sets = {first: "target", second: "target", "outside.example": "accompanying"}
    assert {data["label"]: data["set"] for _, data in graph.nodes(data=True)} == sets
    edges = {(labels[a], labels[b]): data["weight"] for a, b, data in graph.edges(data=True)}
    assert edges == {(second, first): 2, (first, "outside.example"): 2}
    assert (tmp_path / "accompanying.csv").read_text().splitlines() == [
        "site,class,target_sites,linked_from,urls,links,example",
        f"outside.example,1,1,{first},1,2,http://outside.example/page",
    ]
    assert "  linked to by 1 of the 2 target sites: 1 site, 1 URL, 2 links" in outcome.output.splitlines()


def ranked(outcome, folder):
    assert outcome.status == 0, outcome.log
    assert names(folder) == ["top.csv"]
    with (folder / "top.csv").open(newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.both_stores
def test_top_lists_the_most_important_pages(broad, tmp_path):
    project, first_site, second_site = broad
    for arguments, expected in ((["2"], 2), (["1000", first_site], 1), (["1000", first_site, second_site], 5)):
        outcome = project.run("graph", "--folder", str(tmp_path), "--top", *arguments)
        rows = ranked(outcome, tmp_path)
        said = f"{tmp_path / 'top.csv'}: the {expected} most important {plural(expected, 'page')}"
        assert outcome.output.splitlines()[0] == said
        assert [row["rank"] for row in rows] == [str(rank) for rank in range(1, expected + 1)]
    importance = [float(row["importance"]) for row in rows]
    assert importance == sorted(importance, reverse=True)
    assert sum(importance) == pytest.approx(1.0)
    changes = {row["url"]: row["changes"] for row in rows}
    assert changes[f"{second_site}/news"] == "1"
    assert {row["in_degree"] for row in rows if row["url"] == f"{second_site}/"} == {"2"}


def test_top_by_pagerank_needs_only_the_stored_links(crawled, tmp_path):
    project, _, second_site = crawled
    outcome = project.run("graph", "--folder", str(tmp_path), "--top", "3", "--pagerank")
    rows = ranked(outcome, tmp_path)
    assert f"{tmp_path / 'top.csv'}: the 3 pages of the highest PageRank" in outcome.output
    assert [row["rank"] for row in rows] == ["1", "2", "3"]
    assert {row["importance"] for row in rows} == {""}
    of_one = project.run("graph", second_site, "--folder", str(tmp_path), "--top", "3", "--pagerank")
    leaf, home = ranked(of_one, tmp_path)  # the only link within its site is from home
    assert leaf["url"] == f"{second_site}/x"
    assert float(leaf["pagerank"]) == pytest.approx(1.85 * float(home["pagerank"]), rel=1e-5)
    settings = ("-s", "AOPIC_VIRTUAL_SHARE=1")
    flat = ranked(project.run("graph", "--folder", str(tmp_path), "--top", "99", "--pagerank", *settings), tmp_path)
    assert len({row["pagerank"] for row in flat}) == 1
    assert [row["url"] for row in flat] == sorted(row["url"] for row in flat)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--pagerank"], "write --top PAGES as well"),
        (["--top", "9", "--pagerank", "-s", "AOPIC_VIRTUAL_SHARE=0"], "AOPIC_VIRTUAL_SHARE='0' is out of range"),
        (["--top", "10"], "crawls with ORDER=aopic, aopic-cyclic, aopic-random or opic do"),
        (["--top", "0"], "'0' is not a number of pages"),
        (["--top", "ten"], "'ten' is not a number of pages"),
        (["--top", "10", "--level", "site"], "leave out --level site"),
        (["--group", "host"], "--group needs --level site"),
        (["--top", "10", "--targets-only"], "--targets-only needs --level site"),
        (["--html", "a.html"], "--html draws the graph of one site, but the crawl has 2: name one of http"),
        (["--picture", "a.pdf"], "--picture=a.pdf must end with .svg or .png"),
        (["--html", "a.html", "--top", "5"], "--top writes a table; leave out --html"),
        (["--diff", "1", "1", "--top", "5"], "--diff compares pages and links; leave out --top"),
        (["--diff", "1", "1", "--targets-only", "--level", "site"], "leave out --level"),
        (["--diff", "1", "1", "--format", "parquet"], "--diff writes csv and gexf; leave out --format parquet"),
        (["--diff", "1", "1"], "both are the crawl mine (number 1, finished)"),
    ],
)
def test_options_that_do_not_belong_together_are_refused(crawled, tmp_path, arguments, part):
    outcome = crawled[0].run("graph", "--folder", str(tmp_path), *arguments)
    assert (outcome.status, names(tmp_path)) == (2, [])
    assert part in outcome.log
    assert "Traceback" not in outcome.log


def test_no_host_has_the_file_name_of_the_fragment():
    assert file_stem(f"http://{FRAGMENT}") != FRAGMENT
    with pytest.raises(ConfigError, match="invalid host name"):
        parse_hosts(f"http://{FRAGMENT.replace('_', ':')}", "hosts.txt")  # nor as a port


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["http://no.example"], ["http://no.example", "not a site of the crawl mine", "http://127.0.0.1"]),
        (["--crawl", "yours"], ["CRAWL=yours", "mine"]),
        (["-s", "DATABASE_URL=sqlite:///other.sqlite"], ["other.sqlite", "does not exist"]),
        (["--folder", "/proc/graphs"], ["/proc/graphs"]),
    ],
)
def test_unknown_site_or_crawl_is_reported_in_one_sentence(crawled, arguments, parts):
    project, _, _ = crawled
    before = names(project.folder)
    outcome = project.run("graph", *arguments)
    assert (outcome.status, len(outcome.errors)) == (2, 1), outcome.log
    assert outcome.log.splitlines()[:-1] in ([], ["Reading the crawl mine (number 1, finished)"])
    assert all(part in outcome.log for part in parts)
    assert names(project.folder) == before


# Sites that were never read, and crawls without links


def test_no_graph_is_written_of_a_site_that_was_never_read(project):
    with Web(good=pages(BODIES), dead=pages({})) as web:
        good, dead = web["good"].origin, web["dead"].origin
        outcome = project.crawl(web.hosts(), GRAPH_FORMATS="gexf,csv").done()
    sentence = f"No graph is written for 1 site without a page that was read: {dead}"
    result = project.folder / "result"
    assert sentence in outcome.log
    assert f"{stem(good)}.gexf" in names(result)
    assert not [name for name in names(result) if name.startswith(stem(dead))]
    again = project.run("graph", "--format", "gexf", "--folder", str(project.folder / "again"))
    assert (again.status, again.log.splitlines()[1:]) == (0, [sentence])
    assert names(project.folder / "again") == [f"{stem(good)}.gexf"]
    named = project.run("graph", dead)
    assert (named.status, named.errors) == (2, [f"Error: {sentence}"])


def test_graph_of_an_earlier_crawl_is_not_replaced_by_an_empty_one(project):
    is_up = True

    async def site(exchange):
        await pages(BODIES if is_up else {})(exchange)

    with Web(site=site) as web:
        path = project.folder / "result" / f"{stem(web['site'].origin)}.gexf"
        assert project.crawl(web.hosts()).status == 0
        before = path.read_bytes()
        is_up = False
        outcome = project.crawl(web.hosts())
    assert "No graph is written for 1 site" in outcome.log
    without = project.run("graph")
    assert without.errors[0].endswith("; crawl 1 has read pages: add --crawl 1"), without.log
    assert path.read_bytes() == before
    assert project.run("graph", "--crawl", "1").status == 0
    assert path.read_bytes() == before


def test_crawl_of_a_plain_spider_is_not_taken_for_a_graph(project):
    with Web(site=pages(BODIES)) as web:
        origin = web["site"].origin
        plain = ("crawl", "tree", "-a", f"site={origin}", "-s", "SPIDER_MODULES=tests.support.sites.plain")
        assert project.run(*plain).status == 0
        alone = project.run("graph")
        assert project.crawl(web.hosts()).status == 0
        assert project.run(*plain).status == 0
    result = project.folder / "result"
    before = {path: path.read_bytes() for path in result.iterdir()}
    assert (alone.status, len(alone.errors)) == (2, 1)
    assert "the crawl tree (number 1) is of a plain Scrapy spider" in alone.log
    latest = project.run("graph")
    assert (latest.status, latest.log) == (0, "Reading the crawl plain (number 2, finished)\n")
    assert {path: path.read_bytes() for path in result.iterdir()} == before
    assert "Reading the crawl tree (number 3, finished)" in project.run("explain", origin, "--crawl", "tree").log
