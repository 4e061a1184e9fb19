"""Runs crawls and other commands of the project as users do, each in its own folder, and reads their results."""

import csv
import json
import re
import sqlite3
from collections import Counter
from contextlib import closing, suppress

import psycopg

from crawlers.items import State
from tests.support.processes import Run

QUICK = {"ROBOTS_REST_SECONDS": 0}  # no test waits for a site that is never going to respond

_TABLES = {
    "page": """
        SELECT s.site, p.url, p.key, p.level, p.hops, p.state, p.reason, p.attempts, p.status, m.url,
            p.content_hash, p.content_signature, p.title, p.canonical, p.content_type, p.size_bytes, p.duplicates
        FROM page p JOIN site s ON s.id = p.site_id LEFT JOIN page m ON m.id = p.moved_to""",
    "link": """
        SELECT a.url, b.url, l.count
        FROM link l LEFT JOIN page a ON a.id = l.source_id LEFT JOIN page b ON b.id = l.target_id""",
    "external_link": """
        SELECT p.url, u.site, u.url, c.anchor, c.context, c.position, c.rel, c.tag, e.count
        FROM external_link e LEFT JOIN page p ON p.id = e.page_id
        LEFT JOIN external_url u ON u.id = e.url_id LEFT JOIN link_context c ON c.id = e.context_id""",
    "bad_link": "SELECT p.url, b.raw, b.reason, b.count, b.anchor FROM bad_link b LEFT JOIN page p ON p.id = b.page_id",
    "external_url": "SELECT * FROM external_url",
    "link_context": "SELECT * FROM link_context",
    "sitemap": """
        SELECT s.site, m.url, m.address, m.number, i.url, m.state, m.status, m.kind, m.reason, m.urls, m.outside, m.cut
        FROM sitemap m JOIN site s ON s.id = m.site_id
        LEFT JOIN sitemap i ON i.site_id = m.site_id AND i.key = m.index_key""",
    "sitemap_url": """
        SELECT s.site, u.key, u.url, m.url, u.modified_at FROM sitemap_url u JOIN site s ON s.id = u.site_id
        LEFT JOIN sitemap m ON m.site_id = u.site_id AND m.key = u.sitemap_key""",
    "site": """
        SELECT s.site, s.parallel, s.max_level, s.delay_s, s.robots_status, s.robots_text, s.availability,
            c.name, c.state FROM site s JOIN crawl c ON c.id = s.crawl_id""",
}


class Folder:
    """A working folder, and the commands that run in it; *settings* apply to all of them.

    As a context manager, it ends those that still run.
    """

    def __init__(self, folder, **settings):
        self.folder = folder
        self.settings = settings
        self._runs = []
        folder.mkdir(parents=True, exist_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for run in self._runs:
            if run.is_running:
                run.kill()
                run.wait()

    def _start(self, command, arguments, settings, **how):
        line = list(command)
        for name, value in {**QUICK, **self.settings, **settings}.items():
            text = value if isinstance(value, str) else json.dumps(value)
            line += ["-s", f"{name}={text}"]
        self._runs.append(Run(self.folder, [*line, *arguments], **how))
        return self._runs[-1]

    # Results ----------------------------------------------------------------------------------------

    @property
    def database_url(self):
        return str(self.settings.get("DATABASE_URL", f"sqlite:///{self.database}"))

    @property
    def server(self):
        """The URL of the store if it is in PostgreSQL."""
        return self.database_url if self.database_url.startswith("postgresql") else None

    @property
    def database(self):
        return self.folder / "crawl.sqlite"

    @property
    def result(self):
        return self.folder / "result"

    def query(self, statement, **values):
        """Return rows of the store, [] if it has no such table yet; never writes, not even a checkpoint.

        *values* stand for names such as `:site` in the *statement*.
        """
        if self.server is not None:
            named = re.sub(r":(\w+)", r"%(\1)s", statement) if values else statement
            with (
                suppress(psycopg.errors.UndefinedTable),
                psycopg.connect(self.server.replace("+psycopg", "")) as server,
            ):
                return server.execute(named.encode(), values or None).fetchall()
            return []
        try:
            with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=30)) as connection:
                return connection.execute(statement, values).fetchall()
        except sqlite3.OperationalError as error:
            # The last error: killed while the file was being created, so that a writer must roll it back first.
            if any(t in str(error) for t in ("unable to open", "no such table", "write a readonly database")):
                return []
            raise

    @property
    def states(self):
        """Return the states of all crawls, oldest first."""
        return [state for (state,) in self.query("SELECT state FROM crawl ORDER BY id")]

    @property
    def outcomes(self):
        """Return state and reason of all crawls, oldest first."""
        return self.query("SELECT state, reason FROM crawl ORDER BY id")

    def table(self, name):
        """Return the rows of a CSV file in the folder, by column."""
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def files(self):
        """Return the files of the result folder by name, including hidden ones."""
        return {path.name: path.read_bytes() for path in self.result.glob("*") if path.is_file()}


class Project(Folder):
    """A folder in which any command of the project runs."""

    def start(self, command, *arguments, is_fresh=False, before=None, **settings):
        """Start a Scrapy command; see `Run`."""
        return self._start([command], arguments, settings, is_fresh=is_fresh, before=before)

    def run(self, command, *arguments, **settings):
        """Run a Scrapy command to its end."""
        return self.start(command, *arguments, **settings).wait()

    def crawl(self, hosts, *arguments, **settings):
        """Crawl the sites *hosts* to the end."""
        return self.run("crawl", "plain", "-a", f"hosts={hosts}", *arguments, **settings)

    def pages(self, origin=""):
        """Return state and reason of every page, by path, or by URL if no *origin* is given; of a URL, the latest."""
        ids = "SELECT id FROM site WHERE site LIKE :site"
        pages = f"SELECT url, state, reason FROM page WHERE site_id IN ({ids}) ORDER BY id"
        rows = self.query(pages, site=origin or "%")
        return {url.removeprefix(origin): (State(state), reason or "") for url, state, reason in rows}

    def site(self, origin):
        """Return the row of a site in the latest crawl."""
        names = ("robots_status", "robots_text", "availability")
        rows = self.query(
            f"SELECT {', '.join(names)} FROM site WHERE site = :site ORDER BY id DESC LIMIT 1", site=origin
        )
        return dict(zip(names, rows[0], strict=True))


class Crawl(Folder):
    """A folder with hosts.txt, and the crawls that run in it."""

    def __init__(self, folder, hosts, spider="plain", **settings):
        super().__init__(folder, **settings)
        self.spider = spider
        (folder / "hosts.txt").write_text("".join(f"{line}\n" for line in hosts), "utf-8")

    def start(self, *, arguments=("hosts=hosts.txt",), is_fresh=False, before=None, **settings):
        """Start the command; see `Run`."""
        given = [word for argument in arguments for word in ("-a", argument)]
        return self._start(["crawl", self.spider], given, settings, is_fresh=is_fresh, before=before)

    def run(self, **settings):
        """Run the command to its end."""
        return self.start(**settings).wait()

    def snapshot(self):
        """Return everything in the folder: files with their bytes, folders without."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else b""
            for path in self.folder.rglob("*")
        }

    @property
    def stored(self):
        """Return the number of URLs that have ended, as far as committed."""
        rows = self.query(f"SELECT count(*) FROM page WHERE state != {int(State.WAITING)}")
        return rows[0][0] if rows else 0

    @property
    def waiting(self):
        rows = self.query(f"SELECT count(*) FROM page WHERE state = {int(State.WAITING)}")
        return rows[0][0] if rows else 0

    def tables(self):
        """Return all rows that are results, with URLs in place of numbers, and the count of each."""
        return {name: Counter(self.query(statement)) for name, statement in _TABLES.items()}


def add_on(name):
    """Return the value of ADDONS that loads the class *name* of `crashing`."""
    return json.dumps({f"tests.support.crashing.{name}": 0})


def differences(wanted, found):
    """Describe the rows that *found* lacks or has too often."""
    return [
        f"{name}: {sign} {row} ({count} times)"
        for name in wanted
        for sign, rows in (("-", wanted[name] - found[name]), ("+", found[name] - wanted[name]))
        for row, count in rows.items()
    ]
