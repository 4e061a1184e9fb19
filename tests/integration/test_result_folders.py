"""Two crawls of one store never replace each other's files."""

from tests.support.running import Project
from tests.support.sites.server import Web, links, pages

BODIES = {"/": links("/a", "/gone"), "/a": links("/")}


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_crawl_of_another_name_leaves_the_files_of_the_first_alone(tmp_path):
    project = Project(tmp_path)
    result = tmp_path / "result"
    bodies = dict(BODIES)
    with Web(site=pages(bodies, "")) as web:
        assert "replaces" not in project.crawl(web.hosts()).log
        first = contents(result)
        assert "; as crawl 2, it replaces the results of crawl 1 when it ends" in project.crawl(web.hosts()).log
        bodies["/a"] = links("/", "/b")
        other = project.crawl(web.hosts(), CRAWL="other").done()
    assert "result has files of another crawl; those of other are in result/other" in other.log
    assert contents(result) == first
    assert contents(result / "other").keys() == first.keys()
    assert contents(result / "other") != first
    graph = project.run("graph", "--format", "csv", "--crawl", "other")
    assert (graph.status, contents(result)) == (0, first)
    assert [path.suffix for path in (result / "other").glob("*.nodes.csv")] == [".csv"]


def test_crawls_of_one_name_have_folders_of_their_own_if_that_is_wanted(tmp_path):
    project = Project(tmp_path)
    with Web(site=pages(BODIES, "")) as web:
        for _ in range(2):
            assert project.crawl(web.hosts(), RESULT_FOLDER_PER_CRAWL=1).status == 0
    assert sorted(path.name for path in (tmp_path / "result").iterdir()) == ["plain-1", "plain-2"]
    assert contents(tmp_path / "result" / "plain-1")
    for options in (["--format", "csv"], ["--level", "site"], ["--top", "3", "--pagerank"]):
        project.run("graph", "--crawl", "1", *options).done()
    assert sorted(path.name for path in (tmp_path / "result").iterdir()) == ["plain-1", "plain-2"]
    written = contents(tmp_path / "result" / "plain-1")
    assert {"web_fragment.gexf", "top.csv"} <= written.keys()
    assert any(name.endswith(".nodes.csv") for name in written)


def test_no_results_are_written_without_formats_and_tables(tmp_path):
    project = Project(tmp_path, GRAPH_FORMATS="", RESULT_TABLES="")
    with Web(site=pages(BODIES)) as web:
        assert project.crawl(web.hosts()).status == 0
    assert not project.result.exists()
    assert project.states == ["finished"]
