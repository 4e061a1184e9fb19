"""Settings that people choose for a crawl: documented, and harmless for the machine."""

import pytest

from crawlers.inputs.offered_settings import check_offered
from crawlers.options import OUTPUTS


@pytest.mark.parametrize("name", [*OUTPUTS, "LINK_PRIOR"])
@pytest.mark.parametrize("path", ["/etc/x", "../x", "a/b", "result/a.csv", "crawl.sqlite"])
def test_the_panel_takes_no_path(name, path):
    assert check_offered({name: path})[name].startswith(name)
    assert "can't be set here" in check_offered({name: path})[name]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("EXTENSIONS", "x", "EXTENSIONS can't be set here; start the crawl in a terminal"),
        ("RULE", "x" * 2001, "RULE has 2,001 characters; write at most 2,000"),
        ("RULE", "a\nb", "RULE has characters that can't be printed; write it on one line"),
    ],
)
def test_problem_is_one_sentence(name, value, message):
    assert check_offered({name: value}) == {name: message}
