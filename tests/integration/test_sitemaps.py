"""Sitemaps are read with the manners of pages, on their own addresses, and change nothing in the graph."""

import gzip

from tests.support.running import Project
from tests.support.sites.server import Web, links

LIMITS = ";8;;0"


def urlset(*urls):
    return f"<urlset>{''.join(f'<url><loc>{url}</loc></url>' for url in urls)}</urlset>"


def site(pages, robots, files):
    """Return the handler of a site; *files* are its sitemaps."""

    async def respond(exchange):
        body = files.get(exchange.path)
        if exchange.path == "/robots.txt":
            await exchange.page(robots(), content_type="text/plain")
        elif body is not None:
            await exchange.head(200, "application/xml", Content_Length=len(body))
            await exchange.body(body if isinstance(body, bytes) else body.encode())
        elif exchange.path in pages:
            await exchange.page(pages[exchange.path])
        else:
            await exchange.page("missing", 404)

    return respond


def report(project, name):
    return project.run("report", name, "--format", "csv").output


def test_graph_is_the_same_with_and_without_sitemaps(tmp_path):
    pages = {"/": links("/a/", "/b/", "/gone"), "/a/": "<title>A</title>", "/b/": "<title>B</title>"}
    files = {"/map.xml.gz": gzip.compress(urlset("/a/", "/orphan/", "/gone", "http://other.test/").encode(), mtime=0)}
    files["/list.txt"] = b""

    def robots():
        return f"Sitemap: {origin}/map.xml.gz\nSitemap: {origin}/list.txt"

    with Web(a=site(pages, robots, files)) as web:
        origin = web["a"].origin
        files["/list.txt"] = f"{origin}/orphan2\n{origin}/a".encode()
        results = []
        for enabled in (0, 1):
            project = Project(tmp_path / str(enabled), SITEMAPS_ENABLED=enabled)
            project.crawl(f"{origin}{LIMITS}").done()
            results.append(project.files())
        assert results[0] == results[1]
        assert results[0]
        assert web["a"].count("/orphan/") == 0
        orphans = report(project, "in-sitemap-only")
        assert f"{origin}/orphan/," in orphans
        assert f"{origin}/orphan2," in orphans
        assert len(orphans.splitlines()) == 3
        unlisted = [line.split(",")[0] for line in report(project, "not-in-sitemap").splitlines()[1:]]
        assert unlisted == [f"{origin}/", f"{origin}/b/"]
        assert f"{origin}/gone,error,404" in report(project, "sitemap-errors")
        assert len(report(project, "sitemaps").splitlines()) == 3
        assert f"listed in the sitemap {origin}/map.xml.gz" in project.run("explain", f"{origin}/orphan/").output
