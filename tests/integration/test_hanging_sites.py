"""Sites that never answer leave room for the others."""

import asyncio

import pytest

from tests.support.fake_dns import imaginary
from tests.support.running import Project
from tests.support.sites.server import Web, links

HANGING, PAGES = 100, 40


def site(robots):
    async def respond(exchange):
        name = exchange.request.headers["host"].partition(".")[0]
        if exchange.path == "/robots.txt" and (robots or name == "good"):
            await exchange.page(status=404)
        elif name == "good":
            await exchange.page(links(*(f"/{number}" for number in range(PAGES))) + exchange.path)
        else:
            await asyncio.Event().wait()

    return respond


@pytest.mark.parametrize(
    ("robots", "place", "timeout_s"),
    [
        (False, 0, 600),  # nothing times out before the good site is crawled
        (True, HANGING // 2, 1),  # the good site waits for a place among the others
    ],
)
def test_good_site_is_crawled_while_a_hundred_others_hang(tmp_path, robots, place, timeout_s):
    names = [f"hangs{number}.test" for number in range(HANGING)]
    names.insert(place, "good.test")
    with Web(all=site(robots)) as web:
        port = web["all"].origin.rpartition(":")[2]
        (tmp_path / "hosts.txt").write_text("".join(f"http://{name}:{port};4;;0\n" for name in names))
        project = Project(tmp_path, DOWNLOAD_TIMEOUT=timeout_s)
        dns = imaginary(dict.fromkeys(names, "127.0.0.1"))
        run = project.start("crawl", "plain", "-a", "hosts=hosts.txt", before=dns)
        try:
            done = run.until(lambda: all(web["all"].count(f"/{n}") for n in range(PAGES)), "the crawl of the good site")
            assert done
        finally:
            run.kill()
            run.wait()
