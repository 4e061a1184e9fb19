"""A site whose links exist only after its scripts ran, and a host from which it loads scripts."""

from tests.support.sites.server import pages

SHOWN = ["/at-once", "/fetched", "/later", "/from-elsewhere"]  # what only scripts link to
PLAIN = ["/plain", "/old", "/gone", "/text", "/moving"]  # what any crawler finds
NEVER = ["/secret", "/style.css", "/image.png", "/frame", "/font.woff", "/posted", "/socket", "/beacon"]

APP = """
const add = (url) => { document.body.insertAdjacentHTML('beforeend', `<a href="${url}">${url}</a>`) };
add('/at-once');
fetch('/api/links').then((response) => response.json()).then((urls) => {
    urls.forEach(add);
    setTimeout(() => fetch('/api/more').then((response) => response.text()).then(add), 3000);
});
fetch('/secret').then(() => add('/never'));
fetch('/posted', {method: 'POST'}).catch(() => 0);
navigator.sendBeacon('/beacon');
try { new WebSocket(location.origin.replace('http', 'ws') + '/socket') } catch (error) { }
"""
NOTE = """<script>document.title += ` ${Math.random()} ${crypto.randomUUID()} ${document.cookie} ${localStorage.seen}`;
    document.cookie = localStorage.seen = 'seen=1';</script>"""


def home(elsewhere):
    """Return the home page, which loads scripts from the site and from the origin *elsewhere*."""
    links = "".join(f'<a href="{path}">x</a>' for path in PLAIN)
    return f"""<!DOCTYPE html><html><head><title>Home</title>{NOTE}
        <link rel="stylesheet" href="/style.css">
        <style>@font-face {{ font-family: x; src: url(/font.woff) }}</style></head>
        <body>{links}<img src="/image.png"><iframe src="/frame"></iframe><p style="font-family: x">y
        <script src="/app.js"></script><script src="{elsewhere}/allowed.js"></script>
        <script src="{elsewhere}/forbidden.js"></script><script>fetch('{elsewhere}/data')</script></body></html>"""


def scripted(elsewhere):
    """Return the handler of the site."""
    small = pages(
        {
            **{path: f"<!DOCTYPE html><title>{path}</title>{NOTE}<script src=/app.js></script>" for path in SHOWN},
            "/plain": "<title>Plain</title>",
            "/moving": "<title>Moving</title><script>location.href = '/at-once'</script>",
            "/": home(elsewhere),
            "/api/links": '["/fetched"]',
            "/api/more": "/later",
        },
        "User-agent: *\nDisallow: /secret\n",
    )

    async def respond(exchange):
        if exchange.path == "/app.js":
            await exchange.page(APP, content_type="text/javascript")
        elif exchange.path == "/old":
            await exchange.page("", 301, Location="/plain")
        elif exchange.path == "/text":
            await exchange.page("text", content_type="text/plain")
        else:
            await small(exchange)

    return respond


async def elsewhere(exchange):
    """Serve scripts, of which robots.txt forbids one."""
    if exchange.path == "/robots.txt":
        await exchange.page("User-agent: *\nDisallow: /forbidden.js", content_type="text/plain")
    else:
        script = "document.body.insertAdjacentHTML('beforeend', '<a href=\"/from-elsewhere\">x</a>')"
        await exchange.page(script, content_type="text/javascript")
