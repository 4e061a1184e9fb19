"""`scrapy web`: serves the control panel."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.cli.store_command import StoreCommand

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import BaseSettings

    from crawlers.store.database import Database
    from crawlers.web.starting import Starter

OWN = ("WEB_", "SCRAPYD_URL")  # settings of the panel that its crawls need not know


class Command(StoreCommand):
    def syntax(self) -> str:
        return "[options]"

    def short_desc(self) -> str:
        return "Show and steer crawls in a browser"

    def long_desc(self) -> str:
        return (
            "Serves the control panel of the store (DATABASE_URL): crawls, sites, links, reports and pictures in a "
            "browser. It is for this machine only, unless --host names another address, which needs WEB_PASSWORD."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--host", metavar="ADDRESS", default="127.0.0.1", help="address to listen on (default: %(default)s)"
        )
        parser.add_argument("--port", type=int, metavar="PORT", default=8060, help="default: %(default)s")

    def run_checked(self, args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> None:
        # Scrapy may import all commands for another one: it must not wait for the panel.
        from crawlers.store.database import Database, is_missing
        from crawlers.web.serving import access_on, bound, follow_file, in_url, panel, serve

        names = [name for name in settings.getlist("WEB_HOSTS") if name]
        access = access_on(opts.host, opts.port, str(settings.get("WEB_PASSWORD") or ""), names)
        url = settings.get("DATABASE_URL")
        with closing(Database(url, create=not is_missing(url))) as database:  # whoever looks leaves nothing behind
            follow_file(database)
            address = f"http://{in_url(opts.host)}:{opts.port}/"
            with bound(opts.host, opts.port) as listener:
                print(f"The panel of {database.name} is at {address}; Ctrl-C ends it", flush=True)
                serve(panel(database, access, self._starter(database, opts), Path.cwd()), listener)

    def _starter(self, database: Database, opts: argparse.Namespace) -> Starter:
        from crawlers.web.starting import LocalStarter, ScrapydStarter

        assert self.settings is not None
        if url := self.settings.get("SCRAPYD_URL"):
            return ScrapydStarter(database, url, Path.cwd())
        passed_on = [word for one in opts.set if not one.startswith(OWN) for word in ("-s", one)]
        if opts.settings_file:
            passed_on += ["--settings-file", opts.settings_file]
        return LocalStarter(database, Path.cwd(), passed_on)
