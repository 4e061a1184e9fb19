"""A crawl imports what it uses: a site graph neither what other missions need, nor before its end what that needs."""

import json

import pytest

from tests.support.running import Crawl
from tests.support.sites.server import Web, links, pages

LARGE = (
    *("aiohttp", "alembic", "crategraph_forceatlas2", "feedparser", "jinja2", "matplotlib", "networkx", "numpy"),
    *(
        "prometheus_client",
        "psycopg",
        "pyarrow",
        "pythonjsonlogger",
        "requests",
        "rich",
        "scipy",
        "scrapy.core.downloader.handlers.http11",
    ),
    *("snowballstemmer", "sqlalchemy.dialects.postgresql", "starlette", "tldextract", "urllib3", "yaml"),
)
OF_THE_END = ("crategraph_forceatlas2", "numpy")  # positions
MOST = 171  # modules of ours, of which each takes half a millisecond; now 169
WATCH = """
import atexit, json, sys
from scrapy import signals

class Watch:
    @classmethod
    def from_crawler(cls, crawler):
        crawler.signals.connect(write, signals.item_scraped)
        atexit.register(write, "end")
        return cls()

def write(item=None):
    with open("end.json" if item == "end" else "read.json", "w") as file:
        json.dump(sorted(sys.modules), file)
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """The names of the modules that were imported when the last page was read, and at the end."""
    folder = tmp_path_factory.mktemp("imports")
    (folder / "watch.py").write_text(WATCH, "utf-8")
    settings = {"EXTENSIONS": {"watch.Watch": 0}, "PROGRESS_ENABLED": 0}
    with (
        Web(site=pages({"/": links("/a"), "/a": links("/")})) as web,
        Crawl(folder, [web["site"].origin], "sitegraph", **settings) as crawl,
    ):
        assert crawl.run(is_fresh=True).status == 0
    return [json.loads((folder / name).read_text("utf-8")) for name in ("read.json", "end.json")]


def test_site_graph_imports_no_large_library_that_it_does_not_use(imported):
    read, end = map(set, imported)
    assert read.isdisjoint(LARGE)
    assert end.isdisjoint(set(LARGE).difference(OF_THE_END))
    assert "sqlalchemy" in read


def test_site_graph_imports_few_modules_of_ours(imported):
    ours = [name for name in imported[1] if name.partition(".")[0] == "crawlers"]
    assert "crawlers.spiders.sitegraph" in ours
    assert len(ours) <= MOST
