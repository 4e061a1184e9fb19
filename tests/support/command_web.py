"""Two small sites that link to each other, with a copy, a redirect and URLs that are not fetched."""

from tests.support.sites.server import links, pages

SAME = "<title>Same</title>" + links("/leaf.html", "http://outside.example/page")
FIRST = {
    "/": links(
        "/a.html",
        "/copy1.html",
        "/copy2.html",
        "/moved",
        "/secret/x.html",
        "/paper.pdf",
        "/gone.html",
        "mailto:somebody@mail.example",
        "http://outside.example/page",
    ),
    "/a.html": links("/", "/copy1.html", "/copy2.html", "/deep/b.html"),
    "/copy1.html": SAME,
    "/copy2.html": SAME,
    "/leaf.html": "<title>Leaf</title>",
    "/deep/b.html": links("../a.html"),
    "/landed.html": "<title>Landed</title>",
}


async def first(exchange):
    if exchange.path == "/moved":
        await exchange.page(status=301, Location="/landed.html")
    else:
        await pages(FIRST, "User-agent: *\nDisallow: /secret/")(exchange)
