"""The plural of nouns in messages."""

import pytest

from crawlers.algorithms.plurals import plural


@pytest.mark.parametrize(("number", "noun"), [(0, "pages"), (1, "page"), (2, "pages"), (1.0, "page"), (1.5, "pages")])
def test_only_one_has_the_singular(number, noun):
    assert plural(number, "page") == noun
