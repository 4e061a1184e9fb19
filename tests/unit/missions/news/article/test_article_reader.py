import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.missions.news.article import article_reader as module
from crawlers.missions.news.article.article_reader import extract_article
from crawlers.missions.news.news_items import Article

NOW = 1_800_000_000.0
URL = "https://www.post.test/news/storm"
PARAGRAPHS = [
    f"Paragraph {number} tells at some length what the wind did to the roofs of the town on that day."
    for number in "123456"
]
SAID = {
    "@type": "NewsArticle",
    "headline": "A storm in May",
    "datePublished": "2024-05-03T10:00:00+02:00",
    "author": {"name": "By Ann Lee"},
    "articleSection": "Weather",
    "inLanguage": "en-GB",
    "image": "/storm.jpg",
}


def page(head="", heading="A storm in May", body=""):
    text = "".join(f"<p>{paragraph}</p>" for paragraph in PARAGRAPHS)
    return (
        f"<!doctype html><html><head><title>A storm in May - The Post</title>{head}</head><body><nav><a href=/>Home</a>"
        f"</nav><article><h1>{heading}</h1>{body}{text}</article><footer>All rights reserved</footer></body></html>"
    ).encode()


def json_ld(**values):
    return f'<script type="application/ld+json">{json.dumps(SAID | values)}</script>'


def extract(body, rules=None, url=URL, **options):
    return extract_article(body, url, "text/html", rules or {}, NOW, **options)


def test_all_parts_of_a_marked_up_page_are_extracted():
    assert extract(page(json_ld() + '<link rel="canonical" href="/news/storm?full">')) == Article(
        title="A storm in May",
        text="\n".join(PARAGRAPHS),
        published_at=1714723200.0,
        published="2024-05-03T10:00:00+02:00",
        authors=("Ann Lee",),
        section="Weather",
        language="en",
        canonical_url="https://www.post.test/news/storm?full",
        image="https://www.post.test/storm.jpg",
        extractor="blocks",
    )


def test_rule_of_the_site_takes_precedence():
    rules = {
        "title": "h1 b",
        "text": "//article/p[position() > 1]",
        "published": ".when",
        "authors": ".who",
        "section": ".where",
        "image": "img",
    }
    body = """<span class=when>2 May 2024, 08:00</span><span class=who>Bo Ek, Cy Fox</span><i class=where>Town</i>
    <img src=/b.jpg>"""
    article = extract(page(json_ld(), "Breaking: <b>Roofs gone</b>", body), rules)
    assert (article.title, article.text) == ("Roofs gone", "\n".join(PARAGRAPHS[1:]))
    assert (article.published, article.authors, article.section) == ("2024-05-02", ("Bo Ek", "Cy Fox"), "Town")
    assert (article.image, article.extractor) == ("https://www.post.test/b.jpg", "rule")


def test_text_without_title_is_not_an_article():
    text = b"<p>" + b"Words without any title. " * 30
    assert extract(b"<html><body>%s</body></html>" % text) == "no_title"


def test_dates_after_now_are_ignored():
    assert extract(page(json_ld(datePublished="2035-01-01"))).published == ""


@pytest.mark.parametrize(
    ("facts", "shown"),
    [
        ({"dateModified": "2024-05-04"}, ""),
        ({"dateModified": "2024-05-04 02:30"}, ""),  # not the clock of the same moment
        ({}, "<p>Updated 4 May 2024</p>"),
        ({}, "<p>More.</p>" * 70 + "<aside><time datetime=2024-05-04>Another article</time></aside>"),
    ],
)
def test_a_change_or_another_article_does_not_move_the_day_of_publication(facts, shown):
    article = extract(page(json_ld(datePublished="2024-05-03T13:00:00Z", **facts), body=shown))
    assert (article.published, article.published_at) == ("2024-05-03T13:00:00+00:00", 1714741200.0)


@pytest.mark.parametrize("href", ["javascript:void(0)", "http://[broken", "mailto:a@post.test", "#top", ""])
def test_canonical_url_must_be_a_web_address(href):
    assert extract(page(f'<link rel="canonical" href="{href}">')).canonical_url == URL


def test_page_is_read_up_to_the_limit(monkeypatch):
    monkeypatch.setattr(module, "MAX_BYTES", 40)
    assert extract(page()) == "no_text"


@settings(derandomize=True, deadline=None, max_examples=25)
@given(st.lists(st.sampled_from(page(json_ld()).split(b">")) | st.binary(max_size=20), max_size=30))
def test_broken_pages_do_not_crash(pieces):
    assert isinstance(extract(b">".join(pieces), least_chars=1), Article | str)


def test_facts_are_bounded():
    article = extract(page(json_ld(description="x" * 10_000, keywords=["y" * 500] + [str(n) for n in range(999)])))
    assert (len(article.description), len(article.keywords)) == (module.MAX_DESCRIPTION, 50)


def test_year_of_a_copyright_is_no_date_and_a_day_in_the_footer_is_one():
    assert extract(page().replace(b"All rights reserved", "© 2022 The Post".encode())).published == ""
    assert extract(page().replace(b"All rights reserved", b"Published on May 3, 2024")).published == "2024-05-03"
