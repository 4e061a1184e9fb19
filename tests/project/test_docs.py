"""The documentation agrees with the code: settings, stats, commands, queries, tables and links."""

import argparse
import ast
import importlib
import importlib.util
import re
import shlex
import sqlite3
from contextlib import closing
from itertools import chain
from pathlib import Path

import pytest
from scrapy.settings import Settings, default_settings
from scrapy.spiderloader import SpiderLoader

from crawlers import settings as ours
from crawlers.cli.sites.action import actions
from crawlers.cli.without_crawl import WithoutCrawl
from crawlers.items import State
from crawlers.lab import PARTS
from crawlers.mission import missions
from crawlers.options.kinds import by_name
from crawlers.reasons import ErrorClass
from crawlers.store.database import Database
from docs import docstrings, references
from tests.support.of_missions import EVERY

ROOT = Path(__file__).resolve().parents[2]
DETAILS = ROOT / "docs" / "details"  # parts of the references
DOCS = [
    *(ROOT / "README.md", ROOT / "CHANGELOG.md"),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.parent != DETAILS),
]

OURS = {name: getattr(ours, name) for name in dir(ours) if name.isupper()}
SCRAPYS = {name for name in dir(default_settings) if name.isupper()} | {"LOG_FILE"}
# Environment variables, a constant in an __all__, reserved names that are refused, and an encoding of Parquet.
NO_SETTINGS = {
    *("SCRAPY_SETTINGS_MODULE", "CRAWLERS_CRAWL", "CRAWLERS_SUMMARY", "CRAWLERS_WORKER", "OPENBLAS_NUM_THREADS"),
    *(
        "MAX_URL",
        "FRONTIER_URL",
        "TOPIC_TERMS",
        "LINK_WEIGHTS",
        "DELETED_LINKS",
        "DELTA_BINARY_PACKED",
        "RAW_UCB_C",
        "PROGRAM_TABLES",
    ),
    *chain.from_iterable(by_name(mission.removed) for mission in missions().values()),
}


@pytest.fixture(scope="module")
def code():
    """The syntax trees of the modules that may name settings, by path."""
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in sorted((ROOT / "crawlers").rglob("*.py"))
        if path.name not in ("settings.py", "removed.py")
    }


def _sections(path):
    """Return the text under each heading of level 2."""
    parts = re.split(r"^## (.+)$", path.read_text("utf-8"), flags=re.MULTILINE)[1:]
    return {title.strip(): text.partition("\n# ")[0] for title, text in zip(parts[::2], parts[1::2], strict=True)}


# Settings -------------------------------------------------------------------------------------------


def _setting_names(tree):
    """Return the strings in the code that are, or look like, names of settings."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if re.fullmatch(r"[A-Z]{2,}(_[A-Z]+)+", node.value):
                found.add(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            first = node.args[0]
            if re.fullmatch(r"get(bool|int|float|list|dict|withbase)?", node.func.attr) and (
                isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value.isupper()
            ):
                found.add(first.value)
    return found


def test_no_setting_is_mistyped_in_code(code):
    """Scrapy returns 0, 0.0 or False for an unknown name, so only this test detects a typo."""
    unknown = {path: _setting_names(tree) - OURS.keys() - SCRAPYS - NO_SETTINGS for path, tree in code.items()}
    assert {path: names for path, names in unknown.items() if names} == {}


def test_every_project_setting_is_read(code):
    texts = {node.value for tree in code.values() for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    read = texts.union(*map(_setting_names, code.values()))
    assert OURS.keys() - SCRAPYS - read == set()


# Stats ----------------------------------------------------------------------------------------------

COUNTING = {"inc_value", "_inc_value", "set_value", "max_value", "min_value"}
STATES = [state.name.lower() for state in State if state is not State.WAITING]  # a page that ended does not wait


def _calls(tree, names):
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names and node.args
    ]


def _stats(trees):
    """Return the names of the stats that the code counts, also through methods that take the name."""
    counting = set(COUNTING)
    for tree in trees:
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                parameters = {argument.arg for argument in function.args.args}
                names = [call.args[0] for call in _calls(function, COUNTING)]
                if any(isinstance(name, ast.Name) and name.id in parameters for name in names):
                    counting.add(function.name)
    found = set()
    for tree in trees:
        for call in _calls(tree, counting):
            name = call.args[0]
            if isinstance(name, ast.Constant):
                found.add(str(name.value))
            elif isinstance(name, ast.JoinedStr):
                text = ast.unparse(name)
                if text == "f'errors/{error_class(page.status, page.reason)}'":
                    found |= {f"errors/{kind}" for kind in ErrorClass}
                    continue
                state = re.fullmatch(r"f'([\w/]*)\{[\w.]*state\.name\.lower\(\)\}([\w/]*)'", text)
                assert state, f"a stat whose name this test can't determine: {text}"
                found |= {f"{state[1]}{one}{state[2]}" for one in STATES}
            else:
                assert isinstance(name, ast.Name), ast.unparse(call)
    return found


COUNTED_FOR_SCRAPY = {"item_scraped_count"}  # counted in place of an extension of Scrapy


@EVERY
def test_documented_stats_are_those_of_the_code(code):
    text = (ROOT / "docs" / "reference" / "stats.md").read_text("utf-8")
    documented = re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)
    assert sorted(documented) == sorted(_stats(list(code.values())) - COUNTED_FOR_SCRAPY)


# Links and paths ------------------------------------------------------------------------------------


def _without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


def _anchors(path):
    """Return the anchors that GitHub generates for the headings."""
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def _is_broken(document, target):
    name, _, anchor = target.partition("#")
    file = document.parent / name if name else document
    return not file.is_file() or (bool(anchor) and anchor not in _anchors(file))


def test_targets_of_links_exist(tmp_path):
    missing = [
        f"{path.relative_to(ROOT)}: {target}"
        for path in DOCS
        for target in re.findall(r"\]\(([^)\s]+)\)", _without_code(path.read_text("utf-8")))
        if not target.startswith(("https://", "http://")) and _is_broken(path, target)
    ]
    assert missing == [], "no such file, or no such heading in it"
    (tmp_path / "a.md").write_text("# A heading\n")
    targets = ("b.md", "#heading", "a.md#heading", "a.md#a-heading", "#a-heading", "a.md")
    assert [_is_broken(tmp_path / "a.md", target) for target in targets] == [True] * 3 + [False] * 3


def test_no_file_contains_a_path_of_one_machine():
    place = re.compile(r"(?<![\w.~$}>-])/(?:work|root|home|Users|mnt|srv)/\w|[A-Z]:\\\\?Users\b")
    assert place.search(" /" + "home/somebody")
    folders = ("crawlers", "examples", "tests", "bench", "docs", ".ci")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    files += [path for path in ROOT.iterdir() if path.suffix in (".md", ".toml", ".py", ".cfg", ".txt")]
    for path in [*files, ROOT / "Makefile"]:
        if path.is_file() and path.suffix != ".pyc":
            found = place.search(path.read_text("utf-8", errors="replace"))
            assert found is None, f"{path.relative_to(ROOT)}: {found and found[0]}"


# Commands -------------------------------------------------------------------------------------------


SPIDERS = SpiderLoader.from_settings(Settings({"SPIDER_MODULES": ours.SPIDER_MODULES})).list()
TARGETS = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)


def _commands(text):
    """Return lines of shell blocks and code spans that begin with one of our programs."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    found = [one.strip().removeprefix(".venv/bin/") for one in lines + spans]
    return [one for one in found if re.match(r"(scrapy|make|python -m (crawlers|examples))\b.", one)]


def _parser(module, **how):
    """Return the parser of the options of the command in that *module*."""
    command = importlib.import_module(module).Command()
    command.settings = Settings()
    parser = argparse.ArgumentParser(conflict_handler="resolve", **how)
    command.add_options(parser)
    return parser


def _parsed(words):
    """Return the parsed options of a scrapy command; fails for an unknown option."""
    name = words[0]
    module = f"crawlers.commands.{name}"
    if importlib.util.find_spec(module) is None:
        module = f"scrapy.commands.{name}"
    known, unknown = _parser(module, exit_on_error=False).parse_known_args(words[1:])
    strange = [word for word in unknown if word.startswith("-")]
    assert not strange, f"scrapy {name} has no {strange}"
    known.arguments = unknown
    return known


def _check_scrapy(words):
    options = _parsed(words)
    for setting in getattr(options, "set", []):
        assert setting.partition("=")[0] in OURS.keys() | SCRAPYS, setting
    if words[0] == "crawl":
        assert [name for name in options.arguments if name not in SPIDERS] == []
        assert {argument.partition("=")[0] for argument in options.spargs} <= {"hosts", "topic", "sources"}


def _check_command(line):
    words = shlex.split(line.partition(" #")[0].partition(" > ")[0].partition(" | ")[0])
    if words[0] == "make":
        assert words[1] in TARGETS, line
    elif words[0] == "python":
        assert importlib.util.find_spec(words[2]), line
    elif len(words) > 1 and words[1] != "…":
        _check_scrapy(words[1:])


@EVERY
def test_commands_in_documents_exist():
    wrong = []
    for path in DOCS:
        for line in _commands(path.read_text("utf-8")):
            try:
                _check_command(line)
            except (AssertionError, argparse.ArgumentError) as error:
                wrong.append(f"{path.relative_to(ROOT)}: {line}: {error}")
    assert wrong == []


@EVERY
def test_readme_shows_a_command_of_each_mission():
    found = _commands((ROOT / "README.md").read_text("utf-8"))
    assert any(line.startswith("make demo") for line in found)
    assert {line.split()[2] for line in found if line.startswith("scrapy crawl ")} == set(SPIDERS)


COMMANDS = _sections(ROOT / "docs" / "reference" / "commands.md")
OUR_COMMANDS = sorted(
    path.stem
    for path in (ROOT / "crawlers" / "commands").glob("*.py")
    if hasattr(module := importlib.import_module(f"crawlers.commands.{path.stem}"), "Command")
    and not issubclass(module.Command, WithoutCrawl)
)


def _own_options(name):
    """Return the spellings of a command's own options, without those of all Scrapy commands."""

    def options(module):
        actions = _parser(module, add_help=False)._actions
        return {action.dest: list(action.option_strings) for action in actions}

    everywhere = {*options("scrapy.commands.list"), "settings_file"}
    own = options(f"crawlers.commands.{name}")
    return [forms for dest, forms in own.items() if dest not in everywhere]


@pytest.mark.parametrize("name", OUR_COMMANDS)
def test_every_option_of_a_command_is_shown_in_an_example(name):
    shown = {word for line in _commands(COMMANDS[f"scrapy {name}"]) for word in shlex.split(line)}
    assert [forms for forms in _own_options(name) if not shown & set(forms)] == []


def test_every_action_of_sites_and_part_of_lab_is_shown_in_an_example():
    for name, taken in (("sites", actions()), ("lab", PARTS)):
        section = COMMANDS[f"scrapy {name}"]
        assert set(taken) <= {line.split()[2] for line in _commands(section) if line.count(" ") > 1}


def test_every_target_of_make_is_documented():
    documented = re.findall(r"^\| `make ([a-z]+)` \| \w", COMMANDS["make"], re.MULTILINE)
    assert sorted(documented) == sorted(set(TARGETS) - {"help"})


WRONG = ["crawl nosuch", "crawl sitegraph -s MAX_LEVLE=3", "graph --colour red", "crawl sitegraph -a host=x"]


@pytest.mark.parametrize("line", WRONG)
def test_invalid_command_is_found(line):
    with pytest.raises(AssertionError):
        _check_scrapy(line.split())


# Generated pages ------------------------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize("name", references.PAGES)
def test_references_are_generated_from_what_the_program_declares_and_use_every_text(name):
    page = (ROOT / "docs" / "reference" / f"{name}.md").read_text("utf-8")
    assert page == references.PAGES[name](), "run python -m docs.references"
    assert [heading for heading, text in references.details(name).items() if text not in page] == []


# The store ------------------------------------------------------------------------------------------


@EVERY
def test_queries_in_documents_run_on_the_tables(tmp_path):
    blocks = re.compile(r"^```sql\n(.*?)^```", re.MULTILINE | re.DOTALL)
    queries = [query for path in DOCS for query in blocks.findall(path.read_text("utf-8"))]
    Database(f"sqlite:///{tmp_path / 'crawl.sqlite'}").close()
    with closing(sqlite3.connect(tmp_path / "crawl.sqlite")) as connection:
        for query in queries:
            assert connection.execute(query).fetchall() == []
    assert len(queries) > 5


def test_documented_states_have_their_numbers():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    assert [state for state in State if f"{state.name} {state.value}" not in text] == []


# The site -------------------------------------------------------------------------------------------


def test_documentation_site_loads_no_external_files():
    config = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert "font: false" in config
    assert not re.search(r"https?://|extra_javascript|extra_css", config)
    loading = re.compile(r"!\[[^]]*\]\(https?://|<(script|img|iframe)\b")
    assert [path for path in DOCS if loading.search(_without_code(path.read_text("utf-8")))] == []


def test_docstrings_are_converted_to_markdown():
    written = "Adds.\n\n>>> 1 + 1\n2\n\nNotes\n-----\n.. [1] A book."
    assert docstrings.markdown(written) == "Adds.\n\n```pycon\n>>> 1 + 1\n2\n```\n\n**Notes**\n\n1. A book."
