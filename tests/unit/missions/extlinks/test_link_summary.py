"""The summary of a harvest counts external URLs and their hosts."""

from crawlers.store.schema.tables import ExternalLinkRow, ExternalUrlRow, LinkContextRow
from tests.support.stored_rows import write_rows
from tests.support.summaries import Stored


def with_external(database, urls):
    """Return the summary of a crawl with a page that links to *urls*."""
    crawl = Stored(database, "a.test", mission="extlinks")
    number = crawl.page("a.test/")
    links = [ExternalLinkRow(number, url.id, 7, 1) for url in urls]
    write_rows(database, LinkContextRow(7, "text", "", "", "", "a"), *urls, *links)
    return crawl.summary()


def test_http_and_https_are_one_host_and_ports_are_several(database):
    sites = ("http://x.test", "https://x.test", "http://x.test:8080", "https://http.test")
    first, *_ = with_external(database, [ExternalUrlRow(n, site, f"{site}/", n) for n, site in enumerate(sites)])
    assert "4 external URLs of 3 hosts on 1 page" in first


def test_variants_of_an_external_url_count_once(database):
    urls = (("http://x.test/a", 9), ("http://x.test//a", 9), ("http://x.test/b", 8))
    lines = with_external(database, [ExternalUrlRow(n, "http://x.test", *url) for n, url in enumerate(urls)])
    assert "2 external URLs of 1 host on 1 page" in lines[0]
    assert lines[3].split()[:2] == ["a.test", "2"]
