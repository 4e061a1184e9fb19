"""Results are kept until the memory for them is used up; those that were used last stay."""

from __future__ import annotations

from crawlers.reports.catalogue.computed_report import Result
from crawlers.web.kept_results import KeptResults


def test_results_that_were_used_last_are_kept():
    results, computed = KeptResults(most_rows=5), []

    def result_of(key, size=2):
        return results.get(key, lambda: computed.append(key) or Result([("x",)] * size, False)).result.rows

    for key in "aba":
        assert len(result_of(key)) == 2
    assert computed == ["a", "b"]
    result_of("c")  # b is dropped
    result_of("a")
    assert computed == ["a", "b", "c"]
    result_of("b")
    assert computed == ["a", "b", "c", "b"]
    assert len(result_of("large", 9)) == 9  # one is kept, however large it is
    assert results.known("large") is not None
    assert results.known("a") is None


def test_result_is_renewed():
    results = KeptResults()
    first = results.get("a", lambda: Result([("old",)], False))
    assert results.renewed("a", lambda: Result([("new",)], False)).result.rows == [("new",)]
    assert results.known("a").at >= first.at
