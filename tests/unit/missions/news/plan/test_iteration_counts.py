"""Merged iterations keep their sums."""

from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.missions.news.stored.iterations import SUMMED, Iteration, merged

COUNTS = st.lists(st.integers(0, 50), min_size=6, max_size=6)


@given(st.lists(COUNTS, max_size=30), st.integers(1, 10))
@settings(max_examples=40)
def test_merged_iterations_have_the_same_sums_and_are_few(rows, most):
    iterations = [Iteration(7, n, n - 1.0, float(n), *row, sum(row)) for n, row in enumerate(rows, 1)]
    found = merged(iterations, most)
    assert len(found) <= most
    for name in SUMMED:
        assert sum(getattr(one, name) for one in found) == sum(getattr(one, name) for one in iterations)
    assert [one.began_at for one in found[1:]] == [one.ended_at for one in found[:-1]]
    assert not rows or found[-1].total_documents == iterations[-1].total_documents


def test_iteration_is_described_in_one_line():
    assert str(Iteration(7, 3, 10.0, 70.0, 700, 200, 90, 10, 680, 5, 1680)) == (
        "Iteration 3: 1,000 downloads in 60 s (700 fit, 200 not fit, 90 polls, 10 errors), 680 new documents "
        "(75% of the downloads without polls), 5 duplicates; 1,680 documents in total"
    )
