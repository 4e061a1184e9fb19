"""`python -m examples.demo` runs unattended and reports correct numbers without tracebacks."""

import os
import re
import subprocess
import sys

import networkx
import pytest

from crawlers.files.atomic import file_stem
from crawlers.inputs.setting_readers import normalization
from crawlers.urls.resolution import normalize
from examples.demo.report import closing_words
from examples.server import ROOT
from examples.town.plan import plan
from examples.webs import SITES
from tests.support.demo_truth import truth
from tests.support.of_missions import EVERY
from tests.support.opened_crawl import project_settings
from tests.support.running import Project

pytestmark = EVERY

PATIENCE_S = 120
LINE = re.compile(r"(\d+) pages, +(\d+) links between them, (\d+) duplicates? merged, .*, down to level (\d+)")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The folder of a demo run, and its output."""
    folder = tmp_path_factory.mktemp("demo")
    process = subprocess.run(
        [sys.executable, "-W", "error", "-m", "examples.demo", str(folder)],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True, capture_output=True,
        timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr + process.stdout
    assert process.stderr == ""
    return folder, process.stdout


def ports(folder):
    """Return the origin of each site that was served for *folder*, by name."""
    lines = (folder / "ports.json").read_text("utf-8").splitlines()
    return {name: url.rstrip("/") for name, url in map(str.split, lines)}


@pytest.fixture(scope="module")
def origins(demo):
    return ports(demo[0])


def said(output, site):
    """Return pages, edges, duplicates and deepest level that the demo reports for *site*."""
    (line,) = (line for line in output.splitlines() if line.split()[:1] == [site])
    return [int(number) for number in LINE.search(line).groups()]


@pytest.mark.parametrize("site", ["library", "faculty", "mirror"])
def test_demo_reports_the_true_numbers(demo, origins, site):
    options = normalization(project_settings())
    true = truth(site, origins, normalize=lambda url: normalize(url, options))
    wanted = [len(true.groups), len(true.edges), len(true.copies), max(true.pages.values())]
    assert said(demo[1], site) == wanted


@pytest.mark.parametrize("site", SITES)
def test_demo_reports_the_numbers_of_the_graph_files(demo, origins, site):
    folder, output = demo
    graph = networkx.read_gexf(folder / "result" / f"{file_stem(origins[site])}.gexf")
    pages, edges, duplicates, _ = said(output, site)
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (pages, edges)
    assert sum(node["duplicates"] for _, node in graph.nodes(data=True)) == duplicates
    assert pages > 10


@pytest.mark.parametrize("is_in_project", [True, False])
def test_next_steps_fit_the_folder(tmp_path, is_in_project):
    if is_in_project:
        (tmp_path / "scrapy.cfg").touch()
    words = closing_words(tmp_path / "demo", "http://a.test/")
    assert ("source .venv/bin/activate" in words) == is_in_project
    program = "scrapy" if is_in_project else "crawlers"
    assert f"  {program} explain http://a.test/ " in words
    assert f"  {'scrapy crawl' if is_in_project else 'crawlers'} sitegraph -a hosts=example.org " in words
    assert "mkdir ../mine && cd ../mine" in words


def test_last_lines_say_how_to_look_at_it_in_a_browser(tmp_path, monkeypatch):
    folder = tmp_path / "demo"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(tmp_path / ".venv" / "bin" / "python"))
    assert "  cd demo && crawlers web\n" in closing_words(folder, "http://a.test/")
    (tmp_path / "scrapy.cfg").touch()
    words = closing_words(folder, "http://a.test/").splitlines()
    place = words.index("Look at it in a browser")
    assert words[place + 2] == "  cd demo && ../.venv/bin/scrapy web"
    assert "http://127.0.0.1:8060/" in words[place + 4]
    monkeypatch.setattr(sys, "executable", "/opt/python/bin/python")
    assert "  cd demo && scrapy web" in closing_words(folder, "http://a.test/").splitlines()


def test_files_that_the_demo_names_exist(demo):
    folder, _ = demo
    assert (folder / "crawl.sqlite").is_file()
    assert len(list((folder / "result").glob("*.gexf"))) == len(SITES)
    assert len(list((folder / "result").glob("*.nodes.csv"))) == len(SITES)
    end = demo[1].partition("\nFiles\n")[2].partition("\nNext steps\n")[0]
    named = [line.split()[0] for line in end.splitlines() if line]
    assert "town/result/top.csv" in named  # relative to the folder where the demo was started
    assert all(list(folder.glob(name)) for name in named)
    assert len((folder / "logs" / "common_log.csv").read_text("utf-8").splitlines()) > 500


def test_commands_that_the_demo_recommends_work(demo, origins):
    project = Project(demo[0])
    story = project.run("explain", origins["library"] + "/")
    reading = "Reading the crawl sitegraph (number 1, finished)\n"
    assert (story.status, story.log) == (0, reading)
    graph = project.run("graph", "--level", "site")
    assert (graph.status, graph.log) == (0, reading)
    assert f"of the {len(SITES)} target sites" in graph.output


def test_harvest_of_the_demo_spreads_its_pages_over_all_sites(demo):
    folder, _ = demo
    rows = Project(folder / "harvest").query("SELECT count(*), count(DISTINCT site_id), sum(reward) > 100 FROM pull")
    assert rows == [(200, len(SITES), 1)]


def listed(output, heading):
    """(value, site, title) of the ten pages below *heading*."""
    lines = output.splitlines()
    (start,) = (number for number, line in enumerate(lines) if line.split()[:2] == [heading, "site"])
    return [tuple(line.split(maxsplit=2)) for line in lines[start + 1 : start + 11]]


def test_important_pages_of_the_town_agree_with_pagerank(demo):
    folder, output = demo
    project = Project(folder / "town")
    pages = {number: (site, title) for number, site, title in project.query(
        "SELECT page.id, site.site, title FROM page JOIN site ON site.id = site_id"
        " JOIN crawl ON crawl.id = crawl_id WHERE mission = 'broad' AND page.state < 2"
    )}  # fmt: skip
    graph = networkx.DiGraph(project.query("SELECT source_id, target_id FROM link"))
    rank = networkx.pagerank(graph.subgraph(pages))
    names = {origin: name for name, origin in ports(folder / "town").items()}
    most = [(names[pages[page][0]], pages[page][1]) for page in sorted(rank, key=rank.get, reverse=True)]
    said = [(site, title) for _, site, title in listed(output, "importance")]
    assert said[0] == most[0] == ("portal", "The portal")
    assert len(set(said) & set(most[:10])) >= 7
    assert set(said) <= set(most[:20])


def test_budget_of_the_town_includes_revisits(demo):
    rows = Project(demo[0] / "town").query("SELECT count(*) FROM importance WHERE queue = 1")
    assert 100 < rows[0][0] < 250
    assert "400 pages are downloaded" in demo[1]
    assert not list((demo[0] / "town" / "result").glob("127*"))  # graphs of whole sites were not requested


def test_pages_found_for_the_topic_are_relevant(demo):
    found = listed(demo[1], "similarity")
    values = [float(value) for value, _, _ in found]
    assert values == sorted(values, reverse=True)
    assert values[-1] > 0.1
    about = {page.title for page in plan(1).pages if page.subject == "encodings"}
    assert sum(title in about or "encodings" in title for _, _, title in found) >= 7


def test_no_site_causes_a_traceback(demo):
    folder, output = demo
    log = "".join(path.read_text("utf-8") for path in folder.rglob("crawl.log"))
    assert "Traceback" not in log + output
    assert "ERROR" not in log
