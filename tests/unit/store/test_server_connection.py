"""A server that does not respond is given up, one that is at work is not."""

from contextlib import closing

import pytest
from sqlalchemy import text

from crawlers.errors import StoreUnavailable
from crawlers.store.database import Database
from crawlers.store.server_connection import ServerConnection
from tests.support.network import Network
from tests.support.processes import until

SILENCE_S = 0.2


@pytest.fixture
def network(postgresql_url):
    with Network(postgresql_url) as line:
        yield line


@pytest.fixture
def database(network):
    with closing(Database(network.url, silence_s=SILENCE_S)) as opened:
        yield opened


def test_statement_that_takes_long_is_awaited(database):
    assert database.scalar(text(f"SELECT 'done' FROM pg_sleep({4 * SILENCE_S})")) == "done"


def test_response_that_arrives_after_the_question_is_not_lost(postgresql_url):
    class Late(ServerConnection):
        def _is_at_work(self):
            until(lambda: not super(Late, self)._is_at_work(), "the end of the statement")
            return False

    with Late.open(SILENCE_S, conninfo=postgresql_url.replace("+psycopg", "")) as connection:
        assert connection.execute(f"SELECT 'done' FROM pg_sleep({3 * SILENCE_S})").fetchone() == ("done",)


@pytest.mark.parametrize("lose", [Network.cut, Network.forget])  # for all connections, and for this one only
def test_server_that_does_not_respond_is_given_up(network, database, lose):
    with database.read() as connection:
        lose(network)
        with pytest.raises(StoreUnavailable, match="the server did not respond"), database.store_errors():
            connection.execute(text("SELECT 1"))
    network.mend()
    assert database.scalar(text("SELECT 1")) == 1


def test_connection_that_is_reset_may_be_opened_again(network, database):
    network.break_off()
    with pytest.raises(StoreUnavailable, match="refused"):
        database.scalar(text("SELECT 1"))
    network.mend()
    assert database.scalar(text("SELECT 1")) == 1
