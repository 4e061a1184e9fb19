"""Three sites whose pages link to each other at random, with various texts and errors."""

import json
import random

from tests.support.sites.server import Web, pages

NAMES = ("a", "b", "c")
TEXTS = ("unicode", "unicode tables", "text and fonts", "kitchen", "garden of unicode", "weather", "news")
FOLDERS = ("encoding", "cooking")
ONE = {"SITE_DELAY_SECONDS": 0, "CONCURRENT_REQUESTS": 1}
READ = """
    SELECT p.url FROM page p JOIN topic_page t ON t.page_id = p.id JOIN site s ON s.id = p.site_id
    JOIN crawl c ON c.id = s.crawl_id WHERE c.name = :name ORDER BY p.fetched_at, p.id"""


class LinkedSites:
    """Serves the sites during the `with` block; pages in the folder `encoding` are about Unicode."""

    def __init__(self, pages=14):
        self._pages = pages  # of each site
        self.order = []  # the requested URLs
        self.on_request = lambda: None
        self.web = Web(**{name: self._site(name) for name in NAMES})

    def __enter__(self):
        self.web.__enter__()
        rng = random.Random(7)
        paths = [f"/{rng.choice(FOLDERS)}/{number}" for number in range(self._pages)]
        addresses = [self.web[name].origin + path for name in NAMES for path in paths]
        wrong = [
            f"{self.web[name].origin}/{path}" for name in NAMES for path in ("missing", "moved", "secret", "x.pdf")
        ]
        self.bodies = {name: {} for name in NAMES}
        for name in NAMES:
            for path in ("/", *paths, "/landed"):
                about = rng.choice(TEXTS[:3] if "encoding" in path else TEXTS[3:])
                targets = [*rng.sample(addresses, 5), rng.choice(wrong)]
                links = "".join(f'<p><a href="{url}">{rng.choice(TEXTS)}</a></p>' for url in targets)
                self.bodies[name][path] = f"<title>{name} {about}</title><p>{about}</p>{links}"
        return self

    def __exit__(self, *exit_):
        self.web.__exit__(*exit_)

    def _site(self, name):
        async def respond(exchange):
            self.order.append(self.web[name].origin + exchange.path)
            self.on_request()
            if exchange.path == "/moved":
                await exchange.page(status=301, Location="/landed")
            else:
                await pages(self.bodies[name], "User-agent: *\nDisallow: /secret")(exchange)

        return respond

    def prepare(self, project, **topic):
        """Return *project* with settings and a topic.yaml for these sites."""
        roots = [f"{site.origin}/" for site in self.web.sites.values()]
        topic = {"keywords": ["unicode", "text"], "roots": roots, **topic}
        (project.folder / "topic.yaml").write_text(json.dumps(topic), "utf-8")  # JSON is YAML
        project.settings = {**ONE, **project.settings}
        return project


def crawl(project, strategy="", **settings):
    """Crawl, and return the URLs of the pages read, in order."""
    if strategy:
        text = json.loads((project.folder / "topic.yaml").read_text("utf-8"))
        (project.folder / "topic.yaml").write_text(json.dumps({**text, "strategy": strategy}), "utf-8")
    project.run("crawl", "topic", "-a", "topic=topic.yaml", **settings).done()
    return [url for (url,) in project.query(READ, name=settings["CRAWL"])]
