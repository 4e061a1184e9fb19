"""Aliases of pages: chains are followed to their end, and are never circular."""

from hypothesis import given
from hypothesis import strategies as st

from crawlers.ranking.aliases import Aliases

moves = st.lists(st.tuples(st.integers(1, 8), st.integers(1, 8)), max_size=30)


@given(moves)
def test_chains_end_for_any_moves_of_pages(moves):
    aliases, plain = Aliases(), {}
    for page, target in moves:
        aliases.add(page, target)
        end = target
        while end in plain:
            end = plain[end]
        if page not in plain and end != page:
            plain[page] = target
        for one in range(1, 9):
            end = one
            while end in plain:
                end = plain[end]
            assert aliases.representative(one) == end
    assert {page for page in range(1, 9) if aliases.get(page)} == plain.keys()
    assert bool(aliases) == bool(plain)


def test_long_chain_is_followed_once():
    aliases = Aliases()
    for page in range(1, 10_000):
        aliases.add(page, page + 1)
    assert aliases.get(1) == 2
    assert aliases.representative(1) == 10_000
    assert aliases.get(1) == aliases.get(5000) == 10_000
