"""The program `crawlers`, which `pip install` makes: Scrapy with this project's settings, from any folder.

`crawlers sitegraph example.org` is `scrapy crawl sitegraph -a hosts=example.org`; all other commands keep their names.
`python -m crawlers` is the same program.
"""

from __future__ import annotations

import argparse
import difflib
import os
import platform
import sys
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules

from scrapy import __version__ as scrapy_version
from scrapy import cmdline
from scrapy.commands import ScrapyHelpFormatter
from scrapy.utils.project import get_project_settings

from crawlers import __version__, commands
from crawlers.errors import without_passwords
from crawlers.mission import missions

HELP = """\
crawlers MISSION [SITES or FILE] [options]      crawls, or resumes an unfinished crawl
crawlers COMMAND [arguments] [options]          reads the results

Missions:
{missions}

Commands: graph, report (pages, links), explain URL, web (all of it in a browser), workers, sites (manages seeds),
  lab (compares rules), and those of Scrapy, such as shell.

Sites are a file, one a line, or hosts: example.org https://example.com. Results are in the folder where you are:
crawl.sqlite, result/, logs/. Options: -s NAME=VALUE (a setting, such as -s MAX_LEVEL=3), --settings-file crawl.toml,
-a NAME=VALUE, -O pages.csv, -L WARNING. All options of one mission or command: crawlers graph --help
Where the documentation says scrapy graph or scrapy crawl, type crawlers graph or crawlers crawl.
"""
SETTINGS = "crawlers.settings"


def main() -> None:
    """Run the program with the arguments of the command line; exits like `scrapy`, with 2 for unknown commands."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run the program with *arguments*; return the exit status, unless Scrapy exits with its own."""
    os.environ["SCRAPY_SETTINGS_MODULE"] = SETTINGS  # whatever scrapy.cfg is in the folder or above it
    name, *rest = arguments or ["--help"]
    if name in ("-h", "--help", "help"):
        print(
            f"crawlers {__version__} crawls web sites, and gives graphs of their pages and links.\n\n{_help()}", end=""
        )
        return 0
    if name in ("-V", "--version"):
        print(f"crawlers {__version__} (Scrapy {scrapy_version}, Python {platform.python_version()})")
        return 0
    is_mission = name in missions()
    module = _module("crawl" if is_mission else name)
    if module is None:
        print(without_passwords(f"Error: {_unknown(name)}"), file=sys.stderr)
        return 2
    if {"-h", "--help"} & {*rest}:
        _print_help(name, module, is_mission=is_mission)
        return 0
    sys.argv = ["crawlers", *(["crawl"] if is_mission else []), name, *rest]
    cmdline.execute()
    return 0


def _help() -> str:
    typed = {f"crawlers {one.name} {one.file} {one.further}": one.about for one in missions().values()}
    return HELP.format(missions="\n".join(f"  {command:<44}  {about}" for command, about in typed.items()))


def _module(name: str) -> str | None:
    """Return the module of a command, of ours or of Scrapy's; None if it is unknown."""
    if not name.isidentifier() or name.startswith("_"):
        return None
    modules = (f"{package}.{name}" for package in (commands.__name__, "scrapy.commands"))
    return next((module for module in modules if find_spec(module) is not None), None)


def _unknown(name: str) -> str:
    first = next(iter(missions()), "NAME")
    if name.startswith("-"):
        return f"{name} comes after a mission or command: crawlers {first} example.org {name} …"
    known = [*missions(), *(module.name for module in iter_modules(commands.__path__))]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.7)
    if near:
        return f"there is no command {name}; did you mean crawlers {near[0]}?"
    if "." in name or "/" in name:
        return f"there is no command {name}; to crawl it: crawlers {first} {name}"
    return f"there is no command {name}; crawlers --help shows them"


def _print_help(name: str, module: str, *, is_mission: bool) -> None:
    command = import_module(module).Command()
    command.settings = get_project_settings()
    parser = argparse.ArgumentParser(
        prog="crawlers",
        usage=f"crawlers {name} {'[SITES or FILE] [options]' if is_mission else command.syntax()}",
        description=command.long_desc(),
        formatter_class=ScrapyHelpFormatter,
        conflict_handler="resolve",
    )
    command.add_options(parser)
    parser.print_help()


if __name__ == "__main__":
    main()
