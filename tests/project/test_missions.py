"""A program without one of its missions, its folder and its spider, does everything else, and so do its tests.

Here a few tests run without each mission: those of what the core makes of the missions that there are. `make missions`
runs all of them, which takes an hour.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from crawlers.mission import missions
from tests.support.sites.server import Web, links, pages

ROOT = Path(__file__).parents[2]
FOLDERS = (".ci", "bench", "crawlers", "deploy", "docs", "examples", "spark", "tests")
# Tests of what the core makes of the missions that there are: names, orders, reports.
RELEVANT = (
    "tests/unit/test_main.py",
    "tests/unit/inputs/test_program.py",
    "tests/unit/ranking/test_page_orders.py",
    "tests/unit/reports/catalogue/test_report_rows.py::test_reports_that_make_no_sense_for_a_mission_are_not_listed",
)
EVERYTHING = (
    *("tests", "-n4", "--dist=loadfile", "--no-loadscope-reorder", "--deselect=tests/project/test_missions.py"),
    "--deselect=tests/integration/deploy/test_wheel.py::test_wheel_has_every_file_of_the_package",  # asks Git
)
# News sitemaps, paths of news and links to them are on sites of any mission.
NAMED = re.compile(rf"(?<![\w/-])({'|'.join(missions())})(?!\w| sitemap)")
OWN_WORDS = ("crawlers/sites/sitemaps.py", "crawlers/inputs/link_prior_file.py")
IMPORT_EVERYTHING = """
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import crawlers

for module in walk_packages(crawlers.__path__, "crawlers."):
    if not module.name.endswith("__main__"):
        import_module(module.name)
for path in Path("tests").rglob("*.py"):
    import_module(".".join(path.with_suffix("").parts))
"""
TEST = """
import sys
import pytest

sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""
CALL = """
import sys
from scrapy.cmdline import execute

execute(["scrapy", *sys.argv[1:]])
"""


@pytest.fixture(params=missions())
def without(request, tmp_path):
    """The name of a mission, and a function that runs Python in a copy of the project without it."""
    name = request.param
    for folder in FOLDERS:  # with bytecode, which takes long to make
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for file in filter(Path.is_file, (*ROOT.glob("[!.]*"), ROOT / ".dockerignore")):
        shutil.copy(file, tmp_path)
    (tmp_path / "crawlers" / "spiders" / f"{name}.py").unlink()
    for folder in [*tmp_path.rglob(f"missions/{name}")]:
        shutil.rmtree(folder)

    def run(program, *arguments):
        command = [sys.executable, "-P", "-c", program, *arguments]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    return name, run


def test_removed_mission_is_missed_by_no_other(without, request):
    name, run = without
    run(IMPORT_EVERYTHING)
    if request.config.getoption("everything"):
        print(f"without {name}:", run(TEST, *EVERYTHING).splitlines()[-1])
        return
    run(TEST, *RELEVANT)
    others = sorted({*missions()} - {name})
    assert run(CALL, "list").split() == others
    mission = "sitegraph" if name != "sitegraph" else "broad"
    with Web(site=pages({"/": links("/a"), "/a": ""})) as web:
        quick = ["-s", "ROBOTS_REST_SECONDS=0", "-s", "PAGE_BUDGET=2", "-s", "LOG_LEVEL=ERROR"]
        run(CALL, "crawl", mission, "-a", f"hosts={web.hosts()}", *quick)
    assert run(CALL, "report", "pages").count("http://") >= 2
    assert "2 pages" in run(CALL, "graph")


def texts(path):
    """Return the texts of a module, without docstrings, and the names of what it imports; or those of a template."""
    text = path.read_text("utf-8")
    if path.suffix == ".html":
        return re.findall(r'_\("([^"]*)"', text)
    nodes = [*ast.walk(ast.parse(text))]
    said = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return [
        *(node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in said),
        *(node.module for node in nodes if isinstance(node, ast.ImportFrom)),
    ]


def test_core_names_no_mission():
    core = [*(ROOT / "crawlers").rglob("*.py"), *(ROOT / "crawlers" / "web" / "templates").glob("*.html")]
    named = [
        f"{path.relative_to(ROOT)}: {text}"
        for path in core
        if not {"missions", "spiders"} & {*path.parts} and str(path.relative_to(ROOT)) not in OWN_WORDS
        for text in texts(path)
        if isinstance(text, str) and NAMED.search(text)
    ]
    assert named == []
