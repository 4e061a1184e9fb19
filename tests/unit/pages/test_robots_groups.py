"""The lines of a robots.txt that apply to a crawler: by product token, whatever else the file contains."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.pages.robots_groups import lines_for, product_token

CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36"


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        ("my-bot_2/1.0 curl/8.0", "my-bot_2"),
        ("Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/details/archive.org_bot)", "archive.org_bot"),
        (f"Mozilla/5.0 {CHROME} (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot"),
        ("Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.1; +https://openai.com)", "GPTBot"),
        (f"Mozilla/5.0 (X11; Linux x86_64) {CHROME} mybot/3", "mybot"),
        (f"Mozilla/5.0 (X11; Linux x86_64) {CHROME}", "Mozilla"),
        ("(+https://example.org) mybot/1", "mybot"),
        ("(+https://example.org)", None),
        ("Робот/1.0", None),
        ("", None),
    ],
)
def test_product_token_is_derived_from_the_user_agent(user_agent, token):
    assert product_token(user_agent) == token


@pytest.mark.parametrize(
    "value",
    ["mybot", "MyBot", "MYBOT/1.0", "mybot/1.0 (+https://example.org)", "mybot *", "mybot*", " mybot # ours", "mybot;"],
)
def test_group_is_matched_by_product_token_without_case_and_version(value):
    assert lines_for(f"User-agent: *\nDisallow: /all\nUser-agent:{value}\nDisallow: /x", "mybot") == ["Disallow: /x"]


@pytest.mark.parametrize("value", ["m", "my", "mybo", "mybots", "bot", "my-bot", "https", "compatible", "1.0", "", "/"])
def test_group_of_another_token_does_not_apply(value):
    assert lines_for(f"User-agent: {value}\nDisallow: /", "mybot") == []


@pytest.mark.parametrize(
    "line",
    [
        "Crawl-delay: 5",
        "Sitemap: http://a.test/map",
        "Foo: bar",
        "nonsense",
        "",
        "# note",
        "Noindex: /",
    ],
)
def test_only_rules_end_a_list_of_user_agents(line):
    text = f"User-agent: mybot\n{line}\nUser-agent: other\nDisallow: /x\n{line}\nDisallow: /y\nUser-agent: z\nAllow: /"
    assert [rule for rule in lines_for(text, "mybot") if rule != line] == ["Disallow: /x", "Disallow: /y"]
    assert [rule for rule in lines_for(text, "other") if rule != line] == ["Disallow: /x", "Disallow: /y"]


@pytest.mark.parametrize("rule", ["Disallow:", "Disallow: /a", "allow : /", "Dissalow: /", "disallow /a", "Allow"])
def test_rules_end_a_list_of_user_agents(rule):
    assert lines_for(f"User-agent: mybot\n{rule}\nUser-agent: other\nDisallow: /", "mybot") == [rule]


@pytest.mark.parametrize("ours", ["mybot", "*"])
@pytest.mark.parametrize("other", ["slow", "slow\nUser-agent: third"])
@pytest.mark.parametrize("between", ["", "\n", "Sitemap: http://a.test/map\n", "# slow bots\n", "Foo: bar\n"])
def test_crawl_delay_of_another_group_does_not_apply(ours, other, between):
    own, theirs = f"User-agent: {ours}\nCrawl-delay: 1\n", f"User-agent: {other}\nCrawl-delay: 9\n"
    for text in (f"{own}{between}{theirs}Disallow: /x", f"{theirs}{between}{own}Disallow: /x"):
        assert lines_for(text, "mybot") == ["Crawl-delay: 1", "Disallow: /x"]
        assert lines_for(text, "slow") == ["Crawl-delay: 9", "Disallow: /x"]
    text = f"{theirs}{between}User-agent: {ours}\nDisallow: /x\nCrawl-delay: 1"
    assert lines_for(text, "slow") == ["Crawl-delay: 9", "Disallow: /x"]


@pytest.mark.parametrize("between", ["", "Sitemap: http://a.test/map\n", "Foo: bar\n", "# both\n"])
@pytest.mark.parametrize("rule", ["", "Disallow: /x\n"])
def test_crawl_delay_applies_to_all_agents_directly_above_it_and_their_rules(between, rule):
    text = f"User-agent: mybot\n{between}User-agent: other\n{rule}{between}crawl delay : 3"
    assert lines_for(text, "mybot") == lines_for(text, "other") == [*rule.splitlines(), "crawl delay : 3"]


def test_groups_of_the_same_token_apply_together():
    text = (
        "User-agent: mybot\nDisallow: /a\nUser-agent: *\nDisallow: /\nUser-agent: MYBOT\nuser-agent: mybot\nAllow: /b"
    )
    assert lines_for(text, "mybot") == ["Disallow: /a", "Allow: /b"]


def test_group_without_rules_means_that_nothing_is_forbidden():
    assert lines_for("User-agent: *\nDisallow: /\n\nUser-agent: mybot", "mybot") == []


@pytest.mark.parametrize("agent", ["User-agent:*", "user agent *", "USERAGENT : *", "User-Agent: * (all)"])
def test_field_may_be_written_in_other_ways(agent):
    assert lines_for(f"{agent}\nDisallow: /", "mybot") == ["Disallow: /"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_byte_order_marks_are_ignored_wherever_they_are(end):
    text = end.join(
        ["\ufeff# ours", "\ufeffUser-agent: *", "Disallow: /a", "", "\ufeffUser-agent: mybot", "Disallow: /b"]
    )
    assert lines_for(text, "mybot") == ["Disallow: /b"]
    assert lines_for(text, "other") == ["Disallow: /a"]


def test_rules_before_the_first_user_agent_apply_to_nobody():
    assert lines_for("Disallow: /\nUser-agent: *\nAllow: /", "mybot") == ["Allow: /"]


@given(
    st.lists(st.sampled_from(["User-agent: a", "User-agent: b", "User-agent: *", "Disallow: /x", "Foo: 1", "", "\x00"]))
)
def test_group_of_a_token_is_never_that_of_another(lines):
    text = "\n".join(lines)
    named = {line.partition(": ")[2] for line in lines if line.startswith("User-agent")}
    if "a" not in named:
        assert lines_for(text, "a") == lines_for(text, "*")
    assert set(lines_for(text, "b")) <= set(lines)
