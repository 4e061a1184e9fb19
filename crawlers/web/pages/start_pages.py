"""Starting crawls: the form, what was typed, and the command that this is; and crawls that go on.

Whoever may start crawls in the panel can neither read nor write files: the settings given there are checked for it.
"""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse
from starlette.routing import Route

from crawlers.errors import ConfigError
from crawlers.files.text_file import decoded
from crawlers.inputs.link_prior_file import LINK_PRIOR, WORDS
from crawlers.inputs.program import CrawlCommand, suggested
from crawlers.items import SiteLimits
from crawlers.mission import missions
from crawlers.options import OFFERED, OUTPUTS
from crawlers.reports.crawl_manifest import manifest_of
from crawlers.sites.hosts_file import limits_in, parse_hosts
from crawlers.store.sites.seeds import crawl_seeds
from crawlers.web.panel import changes, number_in, numbered_crawl, panel_of, render
from crawlers.web.starting import FOLDER, NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.responses import Response

    from crawlers.mission import Mission
    from crawlers.options.kinds import Setting
    from crawlers.store.database import Database

MAX_VALUE = 2000  # characters


def check_offered(given: Mapping[str, str]) -> dict[str, str]:
    """Return what is wrong with settings that are *given* in the panel, by name: those not offered, and files.

    Everything else is checked by the crawl itself before it begins.
    """
    return {name: problem for name, value in given.items() if (problem := _problem(name, value))}


def _problem(name: str, value: str) -> str:
    if name not in OFFERED or name in OUTPUTS:
        return f"{name} can't be set here; start the crawl in a terminal"
    if len(value) > MAX_VALUE:
        return f"{name} has {len(value):,} characters; write at most {MAX_VALUE:,}"
    if not value.isprintable():
        return f"{name} has characters that can't be printed; write it on one line"
    if name == LINK_PRIOR and value not in WORDS:
        return f"{name}={value} can't be set here; write {' or '.join(WORDS)}"
    return ""


LINES, FILE, STORE = "lines", "file", "store"  # where the sites come from
MAX_INPUT_BYTES = 20_000_000
OWN_FOLDER = "RESULT_FOLDER_PER_CRAWL"  # on, unless people say otherwise: crawls of one name keep their files
HASH_CHARS = 16  # 64 bits: two inputs of one crawl never meet


def start(request: Request, typed: StartForm | None = None, status: int = 200) -> Response:
    """Show the form as it was *typed*, or filled in like a crawl if one is named."""
    panel, form = panel_of(request), typed or StartForm()
    if typed is None and "like" in request.query_params:
        named = numbered_crawl(panel.database, number_in(request, "like"))
        form = filled(named.name, command_of(named.mission, manifest_of(panel.database, named.id)), panel.folder)
    return render(request, "start.html", status, form=form, missions=missions(), sources=(LINES, FILE, STORE))


def start_crawl(request: Request, typed: FormData) -> Response:
    """Start a crawl, and show it as soon as it has begun; or show the form again with what is wrong."""
    panel = panel_of(request)
    form, errors = _form(typed)
    wanted, wrong = start_of(form, panel.database)
    errors |= wrong
    if wanted is None or errors:
        return start(request, replace(form, errors=errors), 422)
    try:
        outcome = panel.starter.start(wanted.name, wanted.command, wanted.files)
    except ConfigError as error:
        return start(request, replace(form, errors=errors_of(str(error))), 422)
    if isinstance(outcome, str):
        return render(request, "pending.html", message=outcome)
    return RedirectResponse(f"/crawls/{outcome}", 303)


def _form(typed: FormData) -> tuple[StartForm, dict[str, str]]:
    """Return what was typed, and the error of a file that is no text."""
    texts = {name: value.strip() for name, value in typed.items() if isinstance(value, str)}
    source = texts.get("source", LINES)
    text, errors = texts.get("text", ""), {}
    upload = typed.get("file")
    if source == FILE and isinstance(upload, UploadFile):
        try:
            text = decoded(upload.file.read(), upload.filename or "the file")
        except ConfigError as error:
            errors["sites"] = str(error)
    settings = {name: texts[name] for name in OFFERED if texts.get(name)}
    return StartForm(texts.get("spider", ""), texts.get("name", ""), source, text, settings), errors


def stored_name(usual: str, content: bytes) -> str:
    """Return the name of the file that keeps *content*: another input of a crawl of the same name has another one.

    >>> stored_name("hosts.txt", b"a.test")
    'hosts-52dcf5eeb77a59de.txt'
    """
    name = PurePath(usual)
    return f"{name.stem}-{hashlib.sha256(content).hexdigest()[:HASH_CHARS]}{name.suffix}"


# In the open part of the form, in this order; the others are below "All settings".
MAIN = ("RULE", "ORDER", "PAGE_BUDGET", "MAX_LEVEL", "SITE_PARALLEL", "SITE_DELAY_SECONDS", "WORKERS", OWN_FOLDER)


@dataclass(frozen=True, slots=True)
class StartForm:
    """What people typed, and what is wrong with it by field; the errors of no field are those of ""."""

    spider: str = field(default_factory=lambda: next(iter(missions()), ""))
    name: str = ""
    source: str = LINES
    text: str = ""  # of the input file
    settings: Mapping[str, str] = field(default_factory=lambda: {OWN_FOLDER: "1"})
    errors: Mapping[str, str] = field(default_factory=dict)

    @property
    def wrong(self) -> dict[str, str]:
        """The errors in the order of the fields; those of no field come first."""
        places = {name: place for place, name in enumerate(("", "spider", "name", "sites", *MAIN, *OFFERED))}
        return dict(sorted(self.errors.items(), key=lambda one: places[one[0]]))

    @property
    def first_wrong(self) -> str:
        """The first field with an error, which gets the focus; "": there is none."""
        return next((name for name in self.wrong if name), "")

    @property
    def groups(self) -> dict[str, list[Setting]]:
        """The settings that are not in the open part of the form, by their group."""
        groups: dict[str, list[Setting]] = {}
        for one in OFFERED.values():
            if one.name not in (*MAIN, *OUTPUTS):
                groups.setdefault(one.group, []).append(one)
        return groups

    @property
    def main(self) -> list[Setting]:
        """The settings of the open part."""
        return [OFFERED[name] for name in MAIN]

    @property
    def has_errors_below(self) -> bool:
        """Whether a setting of the closed part is wrong, or was given."""
        return any(name in OFFERED and name not in MAIN for name in (*self.errors, *self.settings))


class Start(NamedTuple):
    """What is to be started."""

    name: str
    command: CrawlCommand
    files: dict[str, bytes]  # by argument


def start_of(form: StartForm, database: Database) -> tuple[Start | None, dict[str, str]]:
    """Return what *form* starts, or else what is wrong by field.

    Values of settings are checked by the command itself, so this is about what it would not see: the name, the input,
    and settings that are not for the panel.
    """
    errors = errors_of("\n".join(check_offered(form.settings).values()))
    known = missions()
    if form.spider not in known:
        return None, errors | {"spider": f"There is no spider {form.spider}; choose one of: {', '.join(known)}"}
    mission, name = known[form.spider], form.name or form.spider
    if not NAME.fullmatch(name):
        errors["name"] = "A name begins with a letter or a digit, and has . + - _ or blanks behind it, 80 at most"
    files: dict[str, bytes] = {}
    try:
        text = _input(form, mission, database)
    except ConfigError as error:
        errors["sites"] = str(error)
    else:
        if text is not None:
            files[mission.argument] = text.encode()
    if errors:
        return None, errors
    arguments = {
        argument: (FOLDER / name / stored_name(mission.file, content)).as_posix() for argument, content in files.items()
    }
    return Start(name, CrawlCommand(form.spider, arguments, form.settings), files), {}


def _input(form: StartForm, mission: Mission, database: Database) -> str | None:
    """Return the text of the input file; None: the spider reads the store. Raises `ConfigError`."""
    if form.source == STORE:
        if mission.reads_store:
            return None
        seeds = crawl_seeds(database)
        if mission.argument != "hosts" or not seeds:
            raise ConfigError(
                "The list has no enabled site; add some under Sites"
                if mission.argument == "hosts"
                else f"{form.spider} needs a file {mission.file}; upload one, or write it here"
            )
        return format_hosts(seeds)
    if not form.text.strip():
        raise ConfigError(f"Nothing is given; write {mission.file} here, or upload it")
    if len(form.text.encode()) > MAX_INPUT_BYTES:
        raise ConfigError(f"The file is larger than {MAX_INPUT_BYTES:,} bytes; import the sites under Sites instead")
    if mission.argument == "hosts":
        parse_hosts(form.text, "")
    elif (local_files := mission.part("local_files")) is not None and (local := local_files(form.text)):
        raise ConfigError(f"The example {local[0]} is a file; name pages by their URLs")
    return form.text


def filled(name: str, command: CrawlCommand, folder: Path) -> StartForm:
    """Return the form that starts *command* again; its input is read if it is a file in *folder*.

    What it does not take over is an error, so that nobody starts another crawl than they mean.
    """
    source, text = STORE, ""
    mission = missions().get(command.spider)
    given = command.arguments.get(mission.argument) if mission is not None else None
    if given:
        source, text = LINES, _text(given, folder)
    wrong = check_offered(command.settings)
    kept = {setting: value for setting, value in command.settings.items() if setting not in wrong}
    errors = errors_of("\n".join(wrong.values()))
    return StartForm(command.spider, name, source, text, {OWN_FOLDER: "1", **kept}, errors)


def _text(given: str, folder: Path) -> str:
    root = folder.resolve()
    path = (root / given).resolve()
    try:
        if path.is_relative_to(root) and path.is_file() and path.stat().st_size <= MAX_INPUT_BYTES:
            return path.read_text("utf-8")
    except (OSError, ValueError):
        pass
    return "" if path.suffix in (".txt", ".yaml", ".yml") else "\n".join(given.split(","))  # the sites themselves


def errors_of(message: str) -> dict[str, str]:
    """Return what a command said, by field.

    >>> errors_of("RULE=x is unknown\\nhosts=x: there is no such file\\nit is broken")
    {'RULE': 'RULE=x is unknown', 'sites': 'hosts=x: there is no such file', '': 'it is broken'}
    """
    errors: dict[str, str] = {}
    fields = OFFERED.keys() - OUTPUTS
    inputs = {mission.argument for mission in missions().values()}
    for line in message.splitlines():
        word = line.partition("=")[0].partition(":")[0].partition(" ")[0]
        name = word if word in fields else "sites" if word in inputs else ""
        errors[name] = f"{errors[name]}\n{line}" if name in errors else line
    return errors


def typed_command(command: CrawlCommand, name: str) -> str:
    """Return *command* as it is typed in a terminal."""
    return suggested(shlex.join(["scrapy", *command.words(), "-s", f"CRAWL={name}"]))


ROUTES = [Route("/start", start), changes("/start", start_crawl)]


def command_of(mission: str, manifest: Mapping[str, Any]) -> CrawlCommand:
    """Return the command by which a crawl of *mission* began, from its *manifest*."""
    command = manifest["command"]
    return CrawlCommand(mission, command["arguments"], command["settings"], command["left_out"])


def format_hosts(sites: Iterable[SiteLimits]) -> str:
    """Return *sites* as a hosts file, with their limits, from their home pages.

    >>> format_hosts([SiteLimits("http://a.example", 2, None, 0.5), SiteLimits("https://b.example")])
    'http://a.example;2;;500\\nhttps://b.example\\n'
    """
    lines = []
    for one in sites:
        delay_ms = None if one.delay_s is None else round(one.delay_s * 1000)
        fields = (one.site, one.parallel, one.max_level, delay_ms)
        lines.append(";".join("" if field is None else str(field) for field in fields).rstrip(";"))
    return "".join(f"{line}\n" for line in lines)


def hosts_line(one: SiteLimits) -> str:
    """Return the line of a hosts file that says all of a site: its folder, limits, aliases and options.

    A comment names a start URL that the line can't say, such as `/ru/` of a seed whose crawl does not stay in `/ru/`.

    >>> hosts_line(parse_hosts("https://a.example/docs/;;3;500;=b.example;render=none", "")[0])
    'https://a.example/docs/;;3;500;=http://b.example;=https://b.example;render=none'
    >>> hosts_line(SiteLimits("https://a.example", max_level=3, start_url="https://a.example/docs/"))
    'https://a.example;;3  # begins at https://a.example/docs/'
    """
    address, comment = f"{one.site}{one.folder}", ""
    if one.start_url and one.start_url != f"{one.site}/":
        if limits_in(one.start_url) == (SiteLimits(one.site, start_url=one.start_url, folder=one.folder), []):
            address = one.start_url
        else:
            comment = f"  # begins at {one.start_url}"
    line = format_hosts([replace(one, site=address)]).rstrip()
    further = [*(f"={alias}" for alias in one.aliases), *(f"{name}={value}" for name, value in one.options.items())]
    return ";".join([line, *further]) + comment
