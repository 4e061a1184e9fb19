"""A table of waiting links is a mapping of page numbers to features."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlers.ranking.link_features import WIDTH
from crawlers.ranking.link_values import LinkTable

steps = st.lists(st.tuples(st.sampled_from(["add", "remove", "keep"]), st.integers(1, 40)), max_size=120)


def features(page):
    return np.full(WIDTH, page, np.uint32)


@given(steps)
def test_table_holds_what_was_added_and_not_removed(history):
    table, known = LinkTable(), set[int]()
    for what, page in history:
        if what == "add" and page not in known:
            table.add(page, features(page))
            known.add(page)
        elif what == "remove":
            removed = table.remove(page)
            assert (removed is not None) == (page in known)
            assert removed is None or removed.tolist() == [page] * WIDTH
            known.discard(page)
        elif what == "keep":
            places = np.flatnonzero(table.ids % 3 != page % 3)
            known = set(table.ids[places].tolist())
            table.keep(places)
        assert len(table) == len(known)
        assert sorted(table.ids.tolist()) == sorted(known)
        assert all((row == number).all() for row, number in zip(table.features, table.ids, strict=True))
        assert (page in table) == (page in known)
