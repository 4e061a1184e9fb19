from lxml import html

from crawlers.missions.news.article.page_metadata import ArticleParts, meta_tags


def tags(head, attributes=""):
    return meta_tags(html.document_fromstring(f"<html {attributes}><head>{head}</head><body>x</body></html>"))


def test_all_parts_are_read():
    assert tags(
        """<meta property="og:title" content=" Title "><meta property="article:published_time " content="2024-05-03">
        <meta name="Author" content="Ann Lee"><meta property="article:section" content="World"><meta property="og:image"
        content="/a.png"><meta property="og:site_name" content="Post"><link rel="canonical" href="/a">""",
        'lang="en-GB"',
    ) == ArticleParts("Title", "", "2024-05-03", ("Ann Lee",), "World", "en-GB", "/a", "/a.png", "Post")


def test_profile_addresses_are_not_names():
    head = '<meta property="article:author" content="https://social.test/post"><meta name="byl" content="Ann Lee">'
    assert tags(head).authors == ("Ann Lee",)


def test_page_without_tags_has_no_parts():
    assert tags("<meta name=author><meta content=x><link rel=canonical>") == ArticleParts()
