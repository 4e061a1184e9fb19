"""Sitemaps are read with the manners of pages, on their own addresses, and change nothing in the graph."""

from __future__ import annotations

import gzip
import itertools

from tests.support.running import add_on, differences
from tests.support.sites.project import Project
from tests.support.sites.server import Web, links

LIMITS = ";8;;0"


def urlset(*urls):
    return f"<urlset>{''.join(f'<url><loc>{url}</loc></url>' for url in urls)}</urlset>"


def site(pages, robots=None, files=None, moves_to=None):
    """Return the handler of a site; *files* are its sitemaps; other paths have moved to *moves_to*()."""

    async def respond(exchange):
        body = (files or {}).get(exchange.path)
        if exchange.path == "/robots.txt" and robots is not None:
            await exchange.page(robots(), content_type="text/plain")
        elif body is not None:
            await exchange.head(200, "application/xml", Content_Length=len(body))
            await exchange.body(body if isinstance(body, bytes) else body.encode())
        elif moves_to is not None:
            await exchange.page("", 301, Location=moves_to() + exchange.path)
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
    with Web(
        a=site(pages, robots=lambda: f"Sitemap: {origin}/map.xml.gz\nSitemap: {origin}/list.txt", files=files)
    ) as web:
        origin = web["a"].origin
        files["/list.txt"] = f"{origin}/orphan2\n{origin}/a".encode()
        results = []
        for enabled in (0, 1):
            project = Project(tmp_path / str(enabled), SITEMAPS_ENABLED=enabled)
            project.folder.mkdir()
            ended = project.crawl(f"{origin}{LIMITS}")
            assert ended.status == 0, ended.log
            files_of_graph = sorted((project.folder / "result").iterdir())
            results.append([(path.name, path.read_bytes()) for path in files_of_graph])
        assert results[0] == results[1]
        assert results[0]
        assert web["a"].count("/orphan/") == 0
        orphans = report(project, "in-sitemap-only")
        assert f"{origin}/orphan/," in orphans
        assert f"{origin}/orphan2," in orphans
        assert len(orphans.splitlines()) == 3
        assert [line.split(",")[0] for line in report(project, "not-in-sitemap").splitlines()[1:]] == [
            f"{origin}/",
            f"{origin}/b/",
        ]
        assert f"{origin}/gone,error,404" in report(project, "sitemap-errors")
        assert len(report(project, "sitemaps").splitlines()) == 3
        assert f"listed in the sitemap {origin}/map.xml.gz" in project.run("explain", f"{origin}/orphan/").output


def test_sitemaps_and_pages_keep_the_delay_of_the_site_together(tmp_path):
    files = {
        "/sitemap.xml": "<sitemapindex><sitemap><loc>/1.xml</loc></sitemap></sitemapindex>",
        "/1.xml": urlset("/x"),
    }
    with Web(a=site({"/": links("/a/"), "/a/": "A"}, files=files)) as web:
        ended = Project(tmp_path).crawl(f"{web['a'].origin};4;;300")
        assert ended.status == 0, ended.log
        assert web["a"].paths == ["/robots.txt", "/sitemap.xml", "/1.xml", "/", "/a/"]
        assert min(web["a"].gaps_s) >= 0.29


def test_site_that_moves_is_compared_with_the_sitemap_of_its_new_address(tmp_path):
    pages = {"/": links("/a/"), "/a/": "A"}
    with Web(
        new=site(
            pages, robots=lambda: f"Sitemap: {web['old'].origin}/map.xml", files={"/map.xml": urlset("/a/", "/x/")}
        ),
        old=site({}, moves_to=lambda: web["new"].origin),
    ) as web:
        old, new = web["old"].origin, web["new"].origin
        project = Project(tmp_path)
        ended = project.crawl(f"{old}{LIMITS}")
        assert ended.status == 0, ended.log
        assert web["old"].paths == ["/robots.txt", "/map.xml", "/"]
        found = report(project, "in-sitemap-only")
        assert f"{new}/x/,{new}/map.xml" in found
        assert len(found.splitlines()) == 2
        assert f"redirects to {new}/map.xml, which the crawl does not request" in report(project, "sitemaps")


def test_a_crawl_killed_at_each_transaction_reads_each_sitemap(crawl_in):
    maps = [f"/{number}.xml" for number in range(4)]
    files = {path: urlset(f"/x{path}", "/a/") for path in maps}
    files["/sitemap.xml"] = (
        f"<sitemapindex>{''.join(f'<sitemap><loc>{one}</loc></sitemap>' for one in maps)}</sitemapindex>"
    )
    settings = {"STORE_BATCH_SECONDS": 0.001}
    with Web(a=site({"/": links("/a/"), "/a/": "A"}, files=files)) as web:
        hosts = [f"{web['a'].origin}{LIMITS}"]
        whole, crawl = crawl_in("whole", hosts, **settings), crawl_in("killed", hosts, **settings)
        assert whole.run(is_fresh=True).status == 0
        for commit in itertools.count(2):
            if crawl.run(ADDONS=add_on("KillBeforeCommit"), KILL_BEFORE_COMMIT=commit).status == 0:
                break
        assert commit > 3
        assert len(whole.tables()["sitemap"]) == 5
        assert len(whole.tables()["sitemap_url"]) == 5
        assert differences(whole.tables(), crawl.tables()) == []
        assert crawl.files() == whole.files()
