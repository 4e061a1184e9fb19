"""Deployed as an egg to a real scrapyd, the project crawls, stops, resumes and is replaced."""

import asyncio
import http.client
import json
import netrc
import re
import subprocess
import threading
import zipfile
from base64 import b64encode
from collections import Counter

import networkx
import pytest

from tests.support.of_missions import needs
from tests.support.processes import PATIENCE_S, ROOT, until
from tests.support.running import Folder
from tests.support.scrapyd_nodes import job_settings, running_node
from tests.support.sites.server import Web, links, pages

pytestmark = needs("sitegraph")

PAGES = 20  # beside the home page
PATHS = [f"/{number}" for number in range(PAGES)]
SITE = pages({"/": links(*PATHS), **{path: f"<title>{path}</title>" for path in PATHS}})


@pytest.fixture(scope="module")
def web():
    with Web(site=SITE) as served:
        yield served


def crawls(folder):
    """(state, reason, version of the code) of each crawl in the store, in their order."""
    rows = Folder(folder).query("SELECT state, reason, manifest FROM crawl ORDER BY id")
    return [(state, reason, json.loads(text)["versions"]["crawlers"]) for state, reason, text in rows]


def graph(folder):
    (path,) = (folder / "result").glob("*.gexf")
    return path


class Gate:
    """A site that holds some of its pages back until it is told to let go."""

    held = ("/9", "/18")

    def __init__(self):
        self.is_reached, self.may_go = threading.Event(), threading.Event()

    async def __call__(self, exchange):
        if exchange.path in self.held:
            self.is_reached.set()
            while not self.may_go.is_set():
                await asyncio.sleep(0.01)
        await SITE(exchange)


def test_egg_holds_every_file_of_the_package_and_nothing_else_with_version_and_requirements(project):
    (project.folder / "crawlers/downloader/data").mkdir()  # no package: a folder of pictures, templates or scripts
    (project.folder / "crawlers/downloader/data/later.lua").write_text("return 1", "utf-8")
    (project.folder / "tests").mkdir()
    (project.folder / "tests/__init__.py").touch()
    project.set_version("7.8.9")
    with zipfile.ZipFile(project.build_egg()) as egg:
        held = {name for name in egg.namelist() if not name.startswith("EGG-INFO/") and "__pycache__" not in name}
        entry_points, about = (egg.read(f"EGG-INFO/{name}").decode() for name in ("entry_points.txt", "PKG-INFO"))
        required = egg.read("EGG-INFO/requires.txt").decode().partition("\n\n")[0].split()
    there = {
        path.relative_to(project.folder).as_posix()
        for path in (project.folder / "crawlers").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert held == there
    assert "settings = crawlers.settings" in entry_points
    assert "\nVersion: 7.8.9\n" in about
    lines = (ROOT / "requirements.in").read_text("utf-8").splitlines()
    assert required == [line.split("#")[0].strip() for line in lines if not line.startswith("#")]


def test_comma_list_and_hosts_file_given_by_the_client_have_the_same_graph(node, web, tmp_path):
    line = web.hosts()
    hosts = tmp_path / "hosts.txt"
    hosts.write_text(f"# nightly\n{line}\n", "utf-8")
    lists = {"comma": f"{line},", "path": str(hosts)}
    comma = node.schedule(lists["comma"], job_settings(tmp_path / "comma"))
    settings = job_settings(tmp_path / "path")
    given = [f"hosts={hosts}", *(f"setting={name}={value}" for name, value in settings.items())]
    arguments = [part for one in given for part in ("--arg", one)]
    said = node.project.run("-m", "scrapyd_client", "schedule", "-p", "crawlers", "sitegraph", *arguments)
    assert [node.end_of(job) for job in (comma, said.split()[-1])] == [0, 0]
    for name in lists:
        assert crawls(tmp_path / name) == [("finished", "finished", "1.0.1")], (
            "the job ran other code than the egg: is the project installed in this environment?"
        )
        nodes = networkx.read_gexf(graph(tmp_path / name)).nodes
        assert len(nodes) == PAGES + 1
        assert (tmp_path / name / "result/all.csv").read_text("utf-8").count(web["site"].origin) == len(nodes)
    assert graph(tmp_path / "comma").read_bytes() == graph(tmp_path / "path").read_bytes()


def test_relative_hosts_file_is_refused_with_the_folder_it_was_looked_for_in(node, tmp_path):
    job = node.schedule("nightly/hosts.txt", job_settings(tmp_path / "store"))
    assert node.end_of(job) == 2
    sentence = f"hosts=nightly/hosts.txt: there is no such file in {node.folder}; give its full path"
    log = node.log_of(job)
    assert "Traceback" not in log
    (error,) = (line for line in log.splitlines() if "INFO" not in line)
    assert sentence in error
    node.hear(sentence)
    assert not (tmp_path / "store/crawl.sqlite").exists()


def test_without_settings_everything_lands_in_the_folder_that_scrapyd_was_started_in(node, web):
    (node.folder / "hosts.txt").write_text(web.hosts(limits=";4;1;0"), "utf-8")
    assert node.end_of(node.schedule("hosts.txt")) == 0
    assert crawls(node.folder) == [("finished", "finished", "1.0.1")]
    assert graph(node.folder).stat().st_size > 0
    assert (node.folder / "logs/common_log.csv").exists()


def test_jobs_go_on_after_a_cancelled_one_share_the_crawl_and_are_left_alone_by_a_new_egg(node, tmp_path):
    gate = Gate()
    with Web(site=gate) as web:
        given = f"{web.hosts(limits=';1;;50')},", job_settings(tmp_path)
        first = node.schedule(*given)
        assert gate.is_reached.wait(PATIENCE_S), node.log_of(first)
        assert node.call("cancel", project="crawlers", job=first)["prevstate"] == "running"
        gate.may_go.set()
        assert node.end_of(first) == 0
        assert crawls(tmp_path) == [("interrupted", "shutdown", "1.0.1")]
        assert 0 < len(web["site"].requests) < PAGES

        gate.is_reached.clear()
        gate.may_go.clear()
        second = node.schedule(*given)
        assert gate.is_reached.wait(PATIENCE_S), node.log_of(second)
        third = node.schedule(*given)
        until(lambda: Folder(tmp_path).query("SELECT count(*) FROM worker") == [(3,)], "another job joins")
        node.project.set_version("1.0.2")
        node.project.run("-m", "scrapyd_client", "deploy", "--version", str(2**40))  # later than any clock says
        try:
            gate.may_go.set()
            assert [node.end_of(second), node.end_of(third)] == [0, 0]
            assert crawls(tmp_path) == [("finished", "finished", "1.0.1")]
            assert len(networkx.read_gexf(graph(tmp_path)).nodes) == PAGES + 1
            assert {number for path, number in Counter(web["site"].paths).items() if path in PATHS} == {1}
            assert node.end_of(node.schedule(*given)) == 0
        finally:
            node.call("delversion", project="crawlers", version=str(2**40))
    assert crawls(tmp_path) == [("finished", "finished", "1.0.1"), ("finished", "finished", "1.0.2")]


def test_target_in_the_repository_has_no_slash_at_its_end():
    # scrapyd-client 2.0.3 otherwise requests //listprojects.json, to which scrapyd responds with 404.
    lines = (ROOT / "scrapy.cfg").read_text("utf-8").splitlines()
    assert [line for line in lines if line.startswith("url")] == ["url = http://localhost:6800"]


def configured(folder):
    """Run the script of the guide in *folder*; return scrapyd.conf."""
    folder.mkdir(exist_ok=True)
    subprocess.run([ROOT / "deploy/scrapyd/configure.sh"], cwd=folder, check=True, timeout=60)
    return (folder / "scrapyd.conf").read_text("utf-8")


def test_password_is_generated_once_for_each_node_and_nobody_else_can_read_it(tmp_path):
    first, second = configured(tmp_path / "a"), configured(tmp_path / "b")
    assert first != second
    assert configured(tmp_path / "a") == first
    assert re.search(r"^password = [0-9a-f]{64}$", first, re.MULTILINE)
    assert re.search(r"^bind_address = 127\.0\.0\.1$", first, re.MULTILINE)
    assert {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "a").iterdir()} == {
        ".netrc": 0o600,
        "scrapyd.conf": 0o600,
        "tmp": 0o700,
    }


def test_scrapyd_of_the_guide_takes_nothing_without_its_password(tmp_path, environment):
    with running_node(tmp_path, environment, f"{configured(tmp_path)}http_port = {{port}}\n") as node:
        login, _, password = netrc.netrc(tmp_path / ".netrc").authenticators("localhost")
        statuses = []
        for user in ("", f"{login}:wrong", f"{login}:{password}"):
            key = f"Basic {b64encode(user.encode()).decode()}"
            connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=60)
            connection.request("POST", "/addversion.json", headers={"Authorization": key} if user else {})
            statuses.append(connection.getresponse().status)
            connection.close()
        assert statuses == [401, 401, 200]
