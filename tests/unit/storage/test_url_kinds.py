"""What people read of a URL follows from its state and its status, in Python and in SQL alike."""

from itertools import product

import pytest
from sqlalchemy import select, update

from crawlers.items import State
from crawlers.storage.schema.tables import page
from crawlers.storage.url_counts import UrlKind, is_kind, kind_of, states_of
from tests.support.stored_site import Stored, store

pytestmark = pytest.mark.both_stores

STATUSES = (None, 0, 200, 302, 399, 400, 503)


def test_each_url_is_of_the_same_kind_in_queries_and_elsewhere(database):
    cases = list(product(State, STATUSES))
    store(
        database, [Stored(f"/{number}", state=state) for number, (state, _) in enumerate(cases)], name="http://a.test"
    )
    with database.write() as connection:
        for number, (_, status) in enumerate(cases):
            connection.execute(update(page).where(page.c.url == f"http://a.test/{number}").values(status=status))
    found = {}
    with database.read() as connection:
        for kind in UrlKind:
            of_states = page.c.state.in_([int(state) for state in states_of(kind)])
            for url in connection.execute(select(page.c.url).where(of_states, is_kind(kind))).scalars():
                found.setdefault(url, []).append(kind)
    assert found == {f"http://a.test/{number}": [kind_of(*case)] for number, case in enumerate(cases)}
    assert set(map(kind_of, *zip(*cases, strict=True))) == set(UrlKind)
