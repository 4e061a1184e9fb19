"""sources.yaml: its values, and one message for every mistake; valid entries are kept."""

import pytest
from hypothesis import example, given

from crawlers.errors import ConfigError
from crawlers.items import SiteLimits
from crawlers.missions.news.feeds import sources_file
from crawlers.missions.news.feeds.sources import Source
from crawlers.missions.news.feeds.sources_file import MAX_BYTES, parse_sources, read_sources
from crawlers.missions.news.urls.rule_learner import UrlRule
from tests.support.yaml_texts import ANY_TEXT, lines

A = Source(SiteLimits("http://a.example", start_url="http://a.example/"))


def problem(entry):
    """Return the problem reported for the faulty entry that begins in the third line."""
    sources, problems = parse_sources(f"sources:\n- a.example\n{entry}\n- z.example\n", "s.yaml")
    assert [source.domain for source in sources] == ["a.example", "z.example"]
    (message,) = problems
    assert "\n" not in message
    assert len(message) < 400
    assert message.startswith("s.yaml:")
    return message.removeprefix("s.yaml:")


def test_documented_example_is_parsed():
    text = sources_file.__doc__.partition("```yaml\n")[2].partition("```")[0]
    bare, full = parse_sources(text, "sources.yaml")[0]
    assert bare == Source(SiteLimits("http://example.org", start_url="http://example.org/"))
    assert full == Source(
        SiteLimits("https://www.example.com", 1, 8, 1.0, "https://www.example.com/"),
        name="The Example",
        feeds=("https://www.example.com/rss.xml", "https://feeds.example.net/politics"),
        sitemaps=("https://www.example.com/news-sitemap.xml",),
        rules=(UrlRule(r"/\d{4}/\d{2}/\d{2}/[^/]+/?", 1.0, "hand"), UrlRule("/video/.*", 0.0, "hand")),
        content={"text": "div.article-body", "title": "h1", "published": "//time/@datetime"},
        language="en",
        region="GB",
        hosts=("sport.example.net", "cdn.example.net"),
    )
    assert (full.domain, parse_sources(text, "sources.yaml")[1]) == ("example.com", [])


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("- ftp://b.example", "3: 'ftp://b.example': unsupported protocol 'ftp'"),
        ("- a.example", "3: http://a.example already belongs to the source in line 2"),
        ("- {name: B}", "3: site is missing"),
        ("- 5", "3: '5' is not an address"),
        ("- site: http://5/", "3: 'http://5/': incomplete IP address (browsers read it"),
        ("- site: b.example\n  feeds: yes", "4: 'yes' is not an address"),
        ("- site: b.example\n  hosts: [c.example,\n    8080]", "5: '8080' is not an address"),
        ("- {site: b.example, feed: /rss}", "3: unknown field 'feed'; did you mean feeds?"),
        ("- site: b.example\n  site: c.example", "4: duplicate field site"),
        ("- site: b.example\n  parallel: many", "4: parallel is 'many', expected a whole number from 1 to 1000"),
        ("- site: b.example\n  feeds: [/x,\n   'mailto:x']", "5: 'mailto:x' is not a feed address"),
        ("- {site: b.example, feeds: ['http://u@b.example/']}", "3: 'http://u@b.example/' is not a feed address"),
        ("- {site: b.example, feeds: {a: b}}", "3: feeds is a mapping, expected a list"),
        ("- {site: b.example, feeds: [/a], sitemaps: [/a]}", "3: http://b.example/a is also listed under feeds"),
        ("- {site: b.example, rules: ['/(']}", "3: '/(': RE2 cannot parse it: missing ) in '/('; correct it"),
        ("- {site: b.example, rules: ['/(?!a).*']}", "3: '/(?!a).*': RE2 does not support lookaheads"),
        (
            "- {site: b.example, rules: ['news/.*']}",
            "3: 'news/.*' matches no URL because the part after the host begins",
        ),
        ("- {site: b.example, rules: [/x, /x]}", "3: duplicate rule '/x'"),
        ("- {site: b.example, rules: [{weight: 0}]}", "3: regex is missing"),
        ("- {site: b.example, rules: [{regex: /x,\n   weight: 2}]}", "4: weight is '2', expected a number from 0"),
        ('- {site: b.example, rules: ["/a\\0b"]}', "3: '/a\\x00b' contains unprintable characters"),
        ("- {site: b.example, content: h1}", "3: content must be a mapping"),
        ("- {site: b.example, content: {tilte: h1}}", "3: unknown field 'tilte'; did you mean title?"),
        ('- {site: b.example, content: {title: "h\\0"}}', "3: 'h\\x00' contains unprintable characters"),
        (f"- {{site: b.example, content: {{title: {'x' * 501}}}}}", "3: the selector of title has 501 characters"),
        ("- {site: b.example, language: en-GB}", "3: language is 'en-GB', expected an ISO 639 code"),
        ("- {site: b.example, hosts: ['http://c.example']}", "3: 'http://c.example' in hosts is not a host name"),
        (f"- site: b.example\n  feeds: [{','.join(f'/{n}' for n in range(1001))}]", "4: feeds has 1001 values"),
        (f"- site: b.example\n  rules: [{','.join(f'/{n}' for n in range(1001))}]", "4: rules has 1001 values"),
    ],
)
def test_faulty_entry_is_reported_by_line_and_skipped(entry, message):
    assert message in problem(entry)


def test_texts_that_look_like_values_remain_texts():
    text = "sources:\n- {site: 127.0.0.1, name: 1843, region: NO, language: no}\n- http://true/\n"
    one, other = parse_sources(text, "s")[0]
    assert (one.limits.site, one.name, one.region, one.language) == ("http://127.0.0.1", "1843", "NO", "no")
    assert other.limits.site == "http://true"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "s.yaml: expected `sources:`"),
        ("sites: [a.example]", "s.yaml:1: unknown field 'sites'; choose one of: sources"),
        ("http://a.example;4;10;500\n", "s.yaml: expected `sources:`"),
    ],
)
def test_file_without_a_valid_entry_raises_an_error(text, message):
    with pytest.raises(ConfigError) as caught:
        parse_sources(text, "s.yaml")
    assert str(caught.value).startswith(message)


def test_unreadable_files_are_reported(tmp_path):
    path = tmp_path / "sources.yaml"
    path.write_bytes("\ufeffsources:\r\n- a.example\r\n- x y\r\n".encode())
    sources, (said,) = read_sources(str(path))
    assert (sources, said.startswith(f"{path}:3: 'x y': a host name must not contain spaces")) == ([A], True)
    utf_16 = "sources: [a.example]".encode("utf-16")
    for content, message in (
        (b"sources: [\xe9]", "is not UTF-8 text"),
        (utf_16, "is not UTF-8 text"),
        (b" " * (MAX_BYTES + 1), "is larger than"),
    ):
        path.write_bytes(content)
        with pytest.raises(ConfigError, match=message):
            read_sources(str(path))
    with pytest.raises(ConfigError, match="cannot be read"):
        read_sources(str(tmp_path))


LISTS = ANY_TEXT.map(lambda text: f"sources:\n- site: b.example\n  name: {text}\n- a.example\n")


@given(ANY_TEXT | LISTS)
@example("sources:\n- '\n- b")
def test_any_text_has_sources_or_problems_with_their_lines(text):
    try:
        _, problems = parse_sources(text, "s.yaml")
    except ConfigError as error:
        problems = str(error).split("\n")
        if problems[-1] == "No valid source is left; fix the file.":
            del problems[-1]
        elif problems[0].startswith(("s.yaml: expected `sources:`", "s.yaml: no sources found")):
            return
    for problem in problems:
        origin, line, _ = problem.split(":", 2)
        assert origin == "s.yaml"
        assert 1 <= int(line) <= lines(text)
