"""What all commands share: a file of settings, and checks of settings, with their errors in one sentence.

A file of settings is TOML, with one `NAME = value` a line:

PAGE_BUDGET = 2000
LINK_TAGS = "a,area"
"""

from __future__ import annotations

import difflib
import logging
import os
import re
import sys
from collections.abc import Mapping
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING, NoReturn

from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.settings import default_settings as scrapy_defaults
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.conf import arglist_to_dict
from scrapy.utils.misc import load_object

import crawlers as package
from crawlers import settings as defaults
from crawlers.errors import ConfigError, UnreachedError
from crawlers.files.atomic import check_file
from crawlers.files.text_file import quoted, shortened_list
from crawlers.inputs.program import suggested
from crawlers.options import OUTPUTS, SETTINGS
from crawlers.options.kinds import LOG, PROCESS_NUMBER, PROFILE, Kind, Number, Table, Whole, by_name, kind_of
from crawlers.reasons import OF_USERS_CODE, Reason, code_of, parsed, sentence

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from crawlers.options.kinds import FileKind
    from crawlers.store.database import Database


CLASSES = {"SCHEDULER", "DOWNLOADER", "LOG_FORMATTER"}
_OUR_CLASS = re.compile(r"crawlers(?:\.\w+)+\.[A-Z]\w*")  # files may have such names in lower case
# The packages with classes that settings of Scrapy name.
_EDGE = re.compile(r"crawlers\.(downloader|extensions|middlewares|missions\.\w+\.edge|pipelines|schedulers|spiders)\.")
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_SCRAPYS = {  # settings of Scrapy whose values are not those that their defaults suggest
    "CONCURRENT_ITEMS": Whole(least=1),
    "CONCURRENT_REQUESTS_PER_DOMAIN": Whole(least=1),
    "DNS_TIMEOUT": Number(above=True),
    "REACTOR_THREADPOOL_MAXSIZE": Whole(least=1),
    **dict.fromkeys(  # negative, or None
        ("DEPTH_PRIORITY", "FEED_EXPORT_INDENT", "REDIRECT_PRIORITY_ADJUST", "RETRY_PRIORITY_ADJUST"), Kind()
    ),
}
CMDLINE = SETTINGS_PRIORITIES["cmdline"]

WITHOUT_EFFECT = by_name(  # settings of Scrapy whose components the scheduler replaces, by what to use instead
    {
        "the store knows each URL: URL_NORMALIZATION says which ones are equal": "DUPEFILTER_CLASS DUPEFILTER_DEBUG",
        "robots.txt is read by protego; ROBOTSTXT_OBEY=0 ignores it": "ROBOTSTXT_PARSER",
        "URLs wait in the store: ORDER and RULE choose the next one": (
            "SCHEDULER_DEBUG SCHEDULER_DISK_QUEUE SCHEDULER_MEMORY_QUEUE SCHEDULER_PRIORITY_QUEUE "
            "SCHEDULER_START_DISK_QUEUE SCHEDULER_START_MEMORY_QUEUE"
        ),
    }
)
_RETRIES = "RETRY_TIMES and RETRY_REST_TIMES are the numbers of retries"
WITHOUT_EFFECT_ON_MISSIONS = by_name(  # likewise settings of middlewares that `SiteSpider` switches off
    {
        "MAX_LEVEL=0 reads home pages only": "CRAWLSPIDER_FOLLOW_LINKS",
        "MAX_LEVEL is the deepest level that is fetched": "DEPTH_LIMIT",
        "ORDER says which page is fetched next": "DEPTH_PRIORITY",
        "the table page and the graphs have the level of each page": "DEPTH_STATS_VERBOSE",
        "a page with an error status is not read; scrapy explain URL shows the status": (
            "HTTPERROR_ALLOWED_CODES HTTPERROR_ALLOW_ALL"
        ),
        "DATABASE_URL keeps what is needed to resume a crawl, and CRAWL is its name": "JOBDIR",
        "LINK_TAGS=a,meta follows refreshes": "METAREFRESH_ENABLED METAREFRESH_IGNORE_TAGS METAREFRESH_MAXDELAY",
        "redirects between pages of the crawl are always followed": (
            "REDIRECT_ENABLED REDIRECT_MAX_TIMES REDIRECT_PRIORITY_ADJUST"
        ),
        "requests have no Referer; DEFAULT_REQUEST_HEADERS can add one": (
            "REFERER_ENABLED REFERRER_POLICIES REFERRER_POLICY"
        ),
        f"{_RETRIES}, 0 for none": "RETRY_ENABLED",
        _RETRIES: "RETRY_EXCEPTIONS RETRY_HTTP_CODES RETRY_PRIORITY_ADJUST",
        "ERROR_LOG_FILE lists pages that failed": "RETRY_GIVE_UP_LOG_LEVEL",
        "URLs above 8,192 characters are not followed": "URLLENGTH_LIMIT",
    }
)


@cache
def kinds_of_settings() -> Mapping[str, Kind]:
    """Return the kind of each setting, of ours and of Scrapy's."""
    examples = {name: value for name, value in {**vars(scrapy_defaults), **vars(defaults)}.items() if name.isupper()}
    scrapys = {name: kind_of(value) for name, value in examples.items()}
    return scrapys | _SCRAPYS | {name: one.kind for name, one in SETTINGS.items()}


def check_typed(words: list[str]) -> None:
    """Raise `ConfigError` for a word NAME=VALUE behind -s with which Scrapy could not even begin.

    It reads objects, modules of spiders and the kind of the log before a command can check anything.
    """
    try:
        typed = arglist_to_dict(words)
    except ValueError:
        return  # Scrapy says how to write them
    kinds = kinds_of_settings()
    if unusable := _unusable_texts(typed, kinds):  # the name of the program is in Scrapy's first line
        raise ConfigError("\n".join(shortened_list([*unusable.values()])))
    for name, value in typed.items():
        kind = kinds.get(name, Kind())
        if name == "LOG_JSON" or isinstance(kind, Table):
            _check(name, kind, BaseSettings({name: value}))
        elif name == "LOG_LEVEL" and value not in logging.getLevelNamesMapping():
            raise ConfigError(f"{name}={quoted(value)}{kind.problem(value)}")
        elif name == "SPIDER_MODULES":
            for module in filter(None, value.split(",")):
                if not _is_module(module):
                    what = f"there is no module {quoted(module)}; name one that Python finds (PYTHONPATH), or none"
                    raise ConfigError(f"{name}={quoted(value)}: {what}")


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def check_settings(settings: BaseSettings) -> None:
    """Raise `ConfigError` with all unknown names, and all values that a setting can't have."""
    from crawlers.downloader.http import http_client
    from crawlers.inputs.setting_readers import url_selection, url_steps, use_suffix_list

    kinds = kinds_of_settings()
    typed = {name: settings.get(name) for name in settings if settings.getpriority(name) == CMDLINE}
    unusable = _unusable_texts({name: one for name, one in typed.items() if isinstance(one, str)}, kinds)
    checks: list[Callable[[], object]] = [
        partial(_check, name, kind, settings)
        for name, kind in kinds.items()
        if name not in unusable and _may_be_wrong(name, kind, settings, is_typed=name in typed)
    ]
    if not unusable:  # RE2 takes valid text only
        checks = [
            partial(url_selection, settings),
            *checks,
            partial(url_steps, settings),
            partial(http_client, settings),
            partial(use_suffix_list, settings),
            partial(_check_outputs, settings),
        ]
    problems = [*_wrong_names(settings), *_moved(settings), *unusable.values()]
    for check in checks:
        try:
            check()
        except ConfigError as error:
            problems.append(str(error))
    if problems:
        raise ConfigError("\n".join(shortened_list(problems)))


def _may_be_wrong(name: str, kind: Kind, settings: BaseSettings, *, is_typed: bool) -> bool:
    """Return whether a value is to be checked: not defaults, some of which are names in registries of large modules."""
    if name in vars(defaults):
        return is_typed or settings.get(name) != getattr(defaults, name)
    return is_typed and isinstance(kind, Number)


def _check_outputs(settings: BaseSettings) -> None:
    """Raise `ConfigError` for a file that is the store, or outside of the folder of the crawl.

    Whoever gives full paths has the results in another folder, and the files beside them or beside the store.
    """
    from crawlers.store.database import store_path

    store = store_path(settings.get("DATABASE_URL"))
    of_store = [] if store is None else [f"{os.path.realpath(store)}{ending}" for ending in ("", "-wal", "-shm")]
    folders = {Path.cwd(), *([] if store is None else [store.absolute().parent])}
    for name in OUTPUTS:
        given = settings.get(name)
        if not given:
            continue
        path = Path(os.path.normpath(Path(given).absolute()))
        if os.path.realpath(path) in of_store:
            raise ConfigError(f"{name}={given} is the store; name another file")
        if name == "STOP_FILE":  # nothing is written to it
            continue
        if name == "RESULT_FOLDER" and Path(given).is_absolute():
            folders.add(path)
        elif not any(path.is_relative_to(folder) for folder in folders):
            raise ConfigError(f"{name}={given} is outside of the folder of the crawl; name a file below {Path.cwd()}")


def _wrong_names(settings: BaseSettings) -> Iterator[str]:
    """Yield what is wrong with names that are nearly those of settings, or were some: Scrapy would ignore them."""
    known = kinds_of_settings().keys()
    for name in settings:
        if settings.getpriority(name) != CMDLINE or name in known:
            continue
        from crawlers.cli.settings_file import removed_settings

        near = difflib.get_close_matches(name.upper(), known, n=1, cutoff=0.85)
        if (instead := removed_settings().get(name)) is not None:
            yield f"{name} is no setting any more; {instead}"
        elif near:
            yield f"Unknown setting {name}; did you mean {near[0]}?"
        elif not name.isupper():  # those in capitals may be read by components of a user
            yield f"Unknown setting {name}; names of settings are in capitals, such as MAX_LEVEL"


def _moved(settings: BaseSettings) -> Iterator[str]:
    """Yield which classes of ours that are named are elsewhere now, or nowhere."""
    given = ((name, settings[name]) for name in settings if settings[name] != getattr(defaults, name, None))
    for name, path in ((name, path) for name, value in given for path in _our_paths(value)):
        module, _, of_it = path.rpartition(".")
        if of_it not in _classes(module):
            modules = filter(_EDGE.match, (one.name for one in walk_packages(package.__path__, "crawlers.")))
            now = next((f"{one}.{of_it}" for one in modules if of_it in _classes(one)), None)
            yield f"{name}: there is no {path} any more; " + (f"write {now}" if now else "leave it out")


@cache
def _classes(module: str) -> frozenset[str]:
    """Return the names of the classes that a module defines, without importing it; none if there is no such module."""
    if not _is_module(module) or (spec := find_spec(module)) is None or spec.origin is None:
        return frozenset()
    return frozenset(re.findall(r"^class (\w+)", Path(spec.origin).read_text("utf-8"), re.MULTILINE))


def _our_paths(value: object) -> list[str]:
    """Return the classes of this package that the *value* of a setting names."""
    words = (*value, *value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else [value]
    return [word for word in words if isinstance(word, str) and _OUR_CLASS.fullmatch(word)]


def check_effects(settings: BaseSettings, *, is_mission: bool) -> None:
    """Raise `ConfigError` for a setting without effect: of Scrapy, on the scheduler or on a spider of ours; LINK_PRIOR.

    *settings* are those of the crawl, with the ORDER of its spider.
    """
    without = {**WITHOUT_EFFECT, **(WITHOUT_EFFECT_ON_MISSIONS if is_mission else {})}
    for name, remedy in without.items():
        if _is_given(name, settings):
            raise ConfigError(f"{name} has no effect here; {remedy}")
    check_link_prior(settings.get("ORDER"), settings)


def check_link_prior(order: str, settings: BaseSettings) -> None:
    """Raise `ConfigError` if the command gives LINK_PRIOR, but *order* does not learn from links."""
    from crawlers.inputs.setting_readers import order_names
    from crawlers.ranking.page_orders import LEARNING

    if order not in LEARNING and _is_given("LINK_PRIOR", settings) and order in order_names():
        raise ConfigError(
            f"LINK_PRIOR has no effect here; it is for ORDER=learnt, and here ORDER={order}: leave it out"
        )


def _is_given(name: str, settings: BaseSettings) -> bool:
    return name in settings and settings.getpriority(name) == CMDLINE


def _unusable_texts(given: Mapping[str, str], kinds: Mapping[str, Kind]) -> dict[str, str]:
    """Return which texts are too long or not valid, by the name of the setting, and what is wrong.

    A terminal may pass any bytes, and a file of settings may have a NUL, but databases and file names can't.
    """
    most = {name: kinds.get(name, Kind()).most_chars for name in given}
    return {
        name: f"{name} has {len(value):,} characters; write at most {most[name]:,}"
        if len(value) > most[name]
        else f"{name}={quoted(value)} is not valid text; write it in UTF-8"
        for name, value in given.items()
        if len(value) > most[name] or _NO_TEXT.search(value)
    }


def _check(name: str, kind: Kind, settings: BaseSettings) -> None:
    value = settings.get(name)
    if name in SETTINGS and value == SETTINGS[name].default:
        return
    if problem := kind.problem(value):
        raise ConfigError(f"{name}={quoted(str(value))}{problem}")
    classes = settings.getdict(name).values() if name == "DOWNLOAD_HANDLERS" else [value] if name in CLASSES else ()
    for path in [one for one in classes if not _our_paths(one)]:  # those: see `_moved`
        try:
            load_object(path)
        except (ImportError, NameError, TypeError, ValueError):
            raise ConfigError(f"{name}={quoted(str(path))} can't be imported; write module.Class") from None


class HelpFormatter(ScrapyHelpFormatter):
    """Underlines headings, but no line of the help of an option that happens to end with a colon."""

    def format_part_strings(self, part_strings: list[str]) -> list[str]:
        is_option = part_strings[:1] != ["\n"] and not "".join(part_strings[:1]).startswith("usage: ")
        return part_strings if is_option else super().format_part_strings(part_strings)


class ProjectCommand(ScrapyCommand):
    """A base class, before that of a Scrapy command."""

    _mistake: ConfigError | None = None  # reported when the command runs, because only then the log is open

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.formatter_class = HelpFormatter
        parser.usage, parser.description = suggested(parser.usage or ""), suggested(parser.description or "")
        parser.add_argument(
            "--settings-file", metavar="FILE", help="read settings from this TOML file; those of -s take precedence"
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            check_typed(opts.set)
            _check_file("--pidfile", opts.pidfile, PROCESS_NUMBER)
            _check_file("--profile", vars(opts).get("profile"), PROFILE)  # scrapy lab has another option of this name
        except ConfigError as error:
            _refuse(error)
        super().process_options(args, opts)
        assert self.settings is not None
        if opts.settings_file:
            self.settings.set("SETTINGS_FILE", opts.settings_file, "cmdline")
        if path := self.settings.get("SETTINGS_FILE"):
            from crawlers.cli.settings_file import use_settings_file

            try:
                use_settings_file(self.settings, path, kinds_of_settings())
            except ConfigError as error:
                self._mistake = error
        try:
            _check_file("LOG_FILE", self.settings.get("LOG_FILE"), LOG)
            if self.settings["SPIDER_LOADER_CLASS"] != defaults.SPIDER_LOADER_CLASS:
                get_spider_loader(self.settings)  # Scrapy uses it before the command runs
        except ConfigError as error:
            _refuse(error)
        except Exception as error:
            from crawlers.cli.faulty_component import faulty_component

            if (found := faulty_component(error, self.settings)) is not None:
                _refuse(found)
            raise

    def check_settings(self) -> None:
        """Raise `ConfigError` for what is wrong with the settings of the command line and of the file."""
        assert self.settings is not None
        mistakes = [] if self._mistake is None else [str(self._mistake)]
        try:
            check_settings(self.settings)
        except ConfigError as error:
            mistakes.append(str(error))
        if mistakes:
            raise ConfigError("\n".join(mistakes))


def _refuse(error: ConfigError) -> NoReturn:
    print(suggested(f"Error: {error}"), file=sys.stderr)
    sys.exit(2)


def _check_file(name: str, path: str | None, kind: FileKind) -> None:
    """Raise `ConfigError` if *path* can't be written: Scrapy opens it before the command runs."""
    if path:
        check_file(Path(path), name, kind)
        if not Path(path).parent.is_dir():
            raise ConfigError(f"{name}={path} can't be written (it has no folder); create it, or name another file")


def check_reach(database: Database, crawl_id: int, *, needs_all: bool) -> None:
    """Raise `UnreachedError` if a crawl that has ended read no page, unless its user stopped it.

    With *needs_all*, also if any site that a person named is not available.
    """
    from crawlers.store.reading.crawl_results import STOPPED_BY_USER, crawl_end, has_pages, unavailable_sites

    with database.read() as connection:
        unavailable = unavailable_sites(connection, crawl_id)
        is_empty = not has_pages(connection, crawl_id)
        end = crawl_end(connection, crawl_id).reason
    missing = [f"{site}: {sentence(why)}" for site, why in unavailable]
    reasons = f" ({'; '.join(shortened_list(missing))})" if missing else ""
    if is_empty and end not in STOPPED_BY_USER:
        remedy = "check the addresses" if missing or end != Reason.TIMEOUT else "set a larger TIMEOUT_SECONDS"
        causes = {code_of(parsed(why)[1].get("why")) for _, why in unavailable if why}
        if causes and causes <= OF_USERS_CODE:
            remedy = "correct the pipeline or spider"
        raise UnreachedError(f"no page could be read{reasons}; {remedy}, then run the same command again")
    if needs_all and missing:
        raise UnreachedError(f"FAIL_ON_UNAVAILABLE: sites are not available{reasons}; everything else is stored")
