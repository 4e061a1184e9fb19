"""The sites and folders of the crawls."""

from contextlib import ExitStack

import pytest

from tests.support.crawl_web import ALL, WatchedWeb
from tests.support.running import Crawl
from tests.support.sites.town import Town


@pytest.fixture(scope="session")
def web():
    """The demo sites without manners or charsets, served for all modules."""
    with WatchedWeb() as served:
        yield served


@pytest.fixture(scope="module")
def everything():
    """The demo sites with edge cases, and a site that is down."""
    with WatchedWeb(ALL) as served:
        yield served


@pytest.fixture
def town():
    town = Town()
    with town.web:
        yield town


@pytest.fixture
def crawl_in(tmp_path):
    """Starts crawls in separate folders, and ends those that still run."""
    with ExitStack() as stack:
        yield lambda name, hosts, **settings: stack.enter_context(Crawl(tmp_path / name, hosts, **settings))


@pytest.fixture(scope="session")
def undisturbed(web, tmp_path_factory):
    """An uninterrupted crawl of library and mirror, for comparison."""
    with Crawl(tmp_path_factory.mktemp("undisturbed"), web.hosts("library", "mirror")) as crawl:
        assert crawl.run(is_fresh=True).status == 0
        assert crawl.states == ["finished"]
        assert crawl.stored > 300
        return crawl


@pytest.fixture(scope="module", params=["twisted", "curl"])
def http_client(request):
    """Each value of HTTP_CLIENT in turn, for what the network does."""
    return request.param
