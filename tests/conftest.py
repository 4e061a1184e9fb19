"""Fixtures for the services that tests of several rooms need; and the same hypothesis examples on every run."""

import sys
from contextlib import ExitStack, closing
from shutil import copy

import pytest
from hypothesis import Phase, settings

from crawlers import mission
from crawlers.store.database import Database
from tests.support.plain_mission import MISSIONS
from tests.support.running import Project
from tests.support.services import PostgresqlStore, fresh_database, running_postgresql, store_kinds

# hypothesis writes patches for failing tests if libcst is installed, which mutmut requires. libcst cannot read classes
# after zope.interface (a part of Twisted) has changed `abc.ABC`; pytest would stop without naming the failing test.
sys.modules["libcst"] = None

settings.register_profile("suite", derandomize=True, deadline=None)  # a busy machine is slow, not wrong
# `make mutants` wants to know whether an example fails, and not the smallest one that does.
settings.register_profile("mutants", settings.get_profile("suite"), phases=(Phase.explicit, Phase.generate))
settings.load_profile("suite")


def pytest_addoption(parser):
    parser.addoption("--everything", action="store_true", help="run all other tests without each mission, see Makefile")


@pytest.fixture(scope="session")
def postgresql_socket():
    """The folder of the socket of the session's own server."""
    with running_postgresql() as socket:
        yield socket


@pytest.fixture(scope="session")
def postgresql_store(postgresql_socket):
    """A store that is empty at the beginning of each test that asks for its URL."""
    with PostgresqlStore(postgresql_socket) as store:
        yield store


@pytest.fixture
def postgresql_url(postgresql_store):
    """The URL of an empty store in PostgreSQL, the test's own."""
    postgresql_store.clear()
    return postgresql_store.url


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory):
    """The file of an empty store, to be copied: its tables take long to make."""
    path = tmp_path_factory.mktemp("store") / "empty.sqlite"
    Database(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def sqlite_url(empty_store, tmp_path):
    """The URL of an empty store in a file, the test's own."""
    return f"sqlite:///{copy(empty_store, tmp_path / 'crawl.sqlite')}"


@pytest.fixture
def sqlite(sqlite_url):
    """An open empty store of the quicker kind, for what is the same on both."""
    with closing(Database(sqlite_url)) as database:
        yield database


@pytest.fixture
def postgresql(postgresql_url):
    """An open empty store of the other kind, for what is not the same."""
    with closing(Database(postgresql_url)) as database:
        yield database


def pytest_generate_tests(metafunc):
    """Run tests on SQLite, and those with the mark *both_stores* on PostgreSQL as well."""
    if "store_kind" in metafunc.fixturenames:
        metafunc.parametrize("store_kind", store_kinds(metafunc), indirect=True, scope="session")


@pytest.fixture(scope="session")
def store_kind(request):
    """The kind of the stores of a test: sqlite or postgresql."""
    return str(request.param)


@pytest.fixture
def database_url(request, store_kind):
    """The URL of an empty store."""
    return str(request.getfixturevalue(f"{store_kind}_url"))


@pytest.fixture
def database(database_url):
    """An open empty store."""
    with closing(Database(database_url)) as database:
        yield database


@pytest.fixture
def plain_missions(monkeypatch):
    """The missions of tests of the core beside those that are installed, as commands in tests have them."""
    for one in MISSIONS:
        monkeypatch.setitem(mission._ADDED, one.name, one)


@pytest.fixture
def project(request, store_kind, tmp_path):
    """A folder without a store for the commands of one test."""
    if store_kind == "sqlite":
        return Project(tmp_path)
    return Project(tmp_path, DATABASE_URL=request.getfixturevalue("postgresql_url"))


@pytest.fixture(scope="session")
def new_project(request, store_kind):
    """Likewise for what several tests read: `new_project(folder, **settings)` has a store of its own."""
    socket = None if store_kind == "sqlite" else request.getfixturevalue("postgresql_socket")
    with ExitStack() as stack:

        def make(folder, **settings):
            if socket is not None:
                settings["DATABASE_URL"] = stack.enter_context(fresh_database(socket))
            return Project(folder, **settings)

        yield make
