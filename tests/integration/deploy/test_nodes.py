"""One crawl on two real scrapyd nodes: each gets the same job, and one of them loses its process."""

from collections import Counter
from contextlib import ExitStack

import pytest

from tests.support.of_missions import needs
from tests.support.processes import until
from tests.support.running import Project, add_on
from tests.support.scrapyd_nodes import CONFIGURATION, ROOT, job_settings, running_node
from tests.support.sites.server import Web, links

pytestmark = needs("sitegraph")

SITES = 4
INSTALLED = f"{CONFIGURATION}\n[settings]\ncrawlers = crawlers.settings\n"


class Chain:
    """A site whose pages link to the next one until the chain is closed; afterwards it is the same for everybody."""

    def __init__(self):
        self.length, self.is_closed = 0, False

    async def __call__(self, exchange):
        if exchange.path in ("/robots.txt", "/sitemap.xml"):
            await exchange.page("", 404)
            return
        number = int(exchange.path.strip("/") or 0)
        if not self.is_closed:
            self.length = max(self.length, number + 1)
        further = links(f"/{number + 1}") if number < self.length else "the end"
        await exchange.page(f"<title>{number}</title><p>Page {number} of a chain</p>{further}")


@pytest.fixture(scope="module")
def nodes(tmp_path_factory, environment):
    """Two nodes with the project installed."""
    installed = {**environment, "SCRAPY_SETTINGS_MODULE": "crawlers.settings", "PYTHONPATH": str(ROOT)}
    with ExitStack() as stack:
        folders = [tmp_path_factory.mktemp(name) for name in ("one", "two")]
        yield [stack.enter_context(running_node(folder, installed, INSTALLED)) for folder in folders]


def job(web, url, folder, delay_ms=200):
    """Return hosts and settings of a job, which are the same on each node."""
    often = add_on("FrequentStoreChecks")  # so that sites are shared soon
    settings = job_settings(folder, DATABASE_URL=url, TRAPS_ENABLED=0, ADDONS=often)
    return web.hosts(limits=f";1;;{delay_ms}"), settings


def graphs(folder):
    return {path.name: path.read_bytes() for path in (folder / "result").glob("*.gexf")}


def test_two_nodes_share_a_crawl_and_go_on_after_the_death_of_a_process(nodes, postgresql_url, tmp_path, sqlite_url):
    one, two = nodes
    chains = [Chain() for _ in range(SITES)]
    store = Project(tmp_path, DATABASE_URL=postgresql_url)

    def pages():
        """Return the numbers of pages that each worker has stored, in the order in which they joined."""
        return [number for (number,) in store.query("SELECT pages FROM worker ORDER BY id")]

    with Web(**{f"site{number}": chain for number, chain in enumerate(chains)}) as web:
        given = job(web, postgresql_url, tmp_path / "both")
        first = one.schedule(*given)
        until(lambda: any(site.count("/1") for site in web.sites.values()), "the first job crawls")
        killed = two.schedule(*given)
        until(lambda: len(found := pages()) == 2 and found[1] > 0, "the second node stores pages")
        two.call("cancel", project="crawlers", job=killed, signal="KILL")
        two.hear(rf"Process died: .*job='{killed}'")
        again = two.schedule(*given)
        until(lambda: len(found := pages()) == 3 and found[2] > 0, "the second node is back")
        for chain in chains:
            chain.is_closed = True
        assert [one.end_of(first), two.end_of(again)] == [0, 0], one.log_of(first) + two.log_of(again)
        assert store.outcomes == [("finished", "finished")]
        assert store.query("SELECT state FROM worker ORDER BY id") == [("left",), ("lost",), ("left",)]
        counts = [Counter(path for path in site.paths if path != "/robots.txt") for site in web.sites.values()]
        times = Counter(number for count in counts for number in count.values())
        assert times[2] <= SITES, "only pages in flight at the kill are fetched again"
        assert set(times) <= {1, 2}

        alone = job(web, f"{sqlite_url}.alone", tmp_path / "alone", delay_ms=0)
        assert one.end_of(one.schedule(*alone)) == 0
    assert len(graphs(tmp_path / "alone")) == SITES
    assert graphs(tmp_path / "both") == graphs(tmp_path / "alone")
