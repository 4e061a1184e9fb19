"""Expressions of rules: what matches, what is left out, what is refused and why."""

import re

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.errors import ConfigError
from crawlers.urls import url_expressions as module
from crawlers.urls.url_expressions import UrlExpressions, check_expression, is_expression
from tests.support.expressions import matches


def test_matches_of_the_part_after_except_are_left_out():
    rule = "/news/.* except /news/page/[0-9]+ except .*/print"
    targets = ("/news/a", "/news/page/2", "/news/page/x", "/news/a/print", "/print")
    assert [target for target in targets if matches(rule, target)] == ["/news/a", "/news/page/x"]


def test_several_expressions_are_matched_at_once_each_with_its_own_exceptions():
    texts = ["/.*", "/.* except /a", "/a", "/.* except /b", "/.*", "(?s).*"]
    expressions = UrlExpressions(texts)
    found = [sorted(expressions.matching(target)) for target in ("/a", "/b", "x", "")]
    assert found == [[0, 2, 3, 4, 5], [0, 1, 4, 5], [5], [5]]
    assert UrlExpressions([]).matching("/a") == []


atoms = st.sampled_from(["a", "b", "/", "-", ".", "[^a]", "[a-b]", r"\.", ""])
expressions = st.recursive(
    atoms,
    lambda parts: st.one_of(
        st.lists(parts, max_size=4).map("".join),
        st.lists(parts, min_size=1, max_size=3).map(lambda ways: f"(?:{'|'.join(ways)})"),
        st.tuples(parts, st.sampled_from(["*", "+", "?", "{2}", "{1,2}"])).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
    ),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(expressions, max_size=5))
def test_matches_of_a_set_agree_with_python(texts):
    together = UrlExpressions(texts)
    for target in ("", "a", "b", "/", "a-", "ab/", "aab", "/a-b", "aaaa"):
        wanted = [place for place, text in enumerate(texts) if re.fullmatch(text, target)]
        assert sorted(together.matching(target)) == wanted


@pytest.mark.parametrize("text", ["(?:a+)+b", "(?:a|a)*b", "(.*a){20}", ".*-.*-.*-.*-x", "(?:[a-]*)*!"])
def test_no_url_delays_a_match(text):
    # Python's re module takes years for the first ones.
    assert not matches(text, "/" + "a-" * 4_000)


def test_set_that_drops_states_repeatedly_gives_the_same_matches(monkeypatch):
    texts = ["/.*a.{12}", "/.*b.{12}", "/[ab]*"]
    targets = [f"/{number:015b}{number * 7:020b}".replace("0", "a").replace("1", "b") for number in range(500)]
    wanted = [[place for place, text in enumerate(texts) if re.fullmatch(text, target)] for target in targets]
    least = next(size for size in range(2_000, 100_000, 500) if _compiles(monkeypatch, size, texts))
    for size in (least, 2 * least):
        monkeypatch.setattr(module, "MEMORY_BYTES", size)
        expressions = UrlExpressions(texts)
        assert [sorted(expressions.matching(target)) for target in targets] == wanted


def _compiles(monkeypatch, size, texts):
    monkeypatch.setattr(module, "MEMORY_BYTES", size)
    try:
        UrlExpressions(texts)
    except ConfigError:
        return False
    return True


def test_set_that_is_out_of_memory_does_not_report_that_nothing_matches(monkeypatch):
    # RE2's own set then reports no match, as if nothing matched. No text is known that provokes this.
    expressions = UrlExpressions(["/a"])
    monkeypatch.setattr(re2.Set, "Match", lambda *_: None)
    with pytest.raises(MemoryError, match="'/a'"):
        expressions.matching("/a")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("/[a-", "'/[a-': RE2 cannot parse it: missing ] in '[a-'; correct it, see https://"),
        ("/(?!video/).*", "RE2 does not support lookaheads and lookbehinds; append exceptions to the rule, as in"),
        (".*(?<!/print)", "RE2 does not support lookaheads"),
        (r"/(.)/\1", "RE2 does not support backreferences; repeat the text or the expression"),
        ("/x{1001}", "a repetition count is invalid or above 1,000; correct it, or write + or *"),
        ("/x{,3}", "'/x{,3}': RE2 treats {,3} as literal text; write {0,3}"),
        ("/news/.* except /(", "'/(': RE2 cannot parse it"),
        ("/" + r"\pL{1,1000}" * 9, "is too large; split it into several rules"),
        ("/" + "y" * 300 + "(", f"'/{'y' * 199}'…: RE2"),
    ],
)
def test_refusal_gives_the_reason_and_the_remedy(text, sentence, capfd):
    with pytest.raises(ConfigError, match=re.escape(sentence)) as raised:
        check_expression(text)
    assert len(str(raised.value)) < 700
    assert not is_expression(text)
    assert capfd.readouterr() == ("", "")  # RE2 logs nothing


@pytest.mark.parametrize(("length", "shown"), [(200, f"'{'(' * 200}': "), (201, f"'{'(' * 200}'…: ")])
def test_refusal_shows_the_first_200_characters(length, shown):
    with pytest.raises(ConfigError, match=f"^{re.escape(shown)}"):
        check_expression("(" * length)
