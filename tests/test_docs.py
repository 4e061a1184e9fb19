"""The documents say what the code does: settings, stats, commands, queries and links are held against it."""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import re
import shlex
import sqlite3
from contextlib import closing
from dataclasses import fields
from pathlib import Path

import pytest
from scrapy.settings import Settings, default_settings
from scrapy.spiderloader import SpiderLoader

from crawlers import settings as ours
from crawlers.algorithms.normal_form import Normalization
from crawlers.algorithms.page_orders import ORDERS
from crawlers.algorithms.rewards import REWARDS
from crawlers.algorithms.rule_settings import PROFILES
from crawlers.algorithms.site_rules import RULES
from crawlers.items import State
from crawlers.storage.database import Database
from crawlers.storage.graph_analysis import MEASURES
from crawlers.storage.graph_files import FORMATS
from crawlers.storage.news_tables import metadata

ROOT = Path(__file__).resolve().parents[1]
DOCS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
every_document = pytest.mark.parametrize("path", DOCS, ids=[path.relative_to(ROOT).as_posix() for path in DOCS])

OURS = {name: getattr(ours, name) for name in dir(ours) if name.isupper()}
SCRAPYS = {name for name in dir(default_settings) if name.isupper()} | {"LOG_FILE"}
# An environment variable, a constant in an __all__, names that are settled and refused until they exist.
NO_SETTINGS = {"SCRAPY_SETTINGS_MODULE", "URL_MAX", "FRONTIER_URL", "TOPIC_TERMS"}
CODE = {
    path: ast.parse(path.read_text("utf-8"))
    for path in sorted((ROOT / "crawlers").rglob("*.py"))
    if path.name != "settings.py"
}


def _sections(path: Path) -> dict[str, str]:
    """The text under each heading of the second order."""
    parts = re.split(r"^## (.+)$", path.read_text("utf-8"), flags=re.MULTILINE)[1:]
    return {title.strip(): text.partition("\n# ")[0] for title, text in zip(parts[::2], parts[1::2], strict=True)}


# Settings -------------------------------------------------------------------------------------------

SECTIONS = _sections(ROOT / "docs" / "reference" / "settings.md")


def _default(section: str) -> object:
    """What stands behind "Default:" as a value: a literal, or a block of words."""
    inline = re.search(r"^Default: `(.+?)`", section, re.MULTILINE)
    if inline:
        return ast.literal_eval(inline[1])
    block = re.search(r"^Default:\n\n```(\w+)\n(.*?)```", section, re.MULTILINE | re.DOTALL)
    assert block, f"no default in {section[:60]!r}"
    return block[2].split() if block[1] == "text" else ast.literal_eval(block[2])


def test_every_setting_has_a_heading_and_every_heading_a_setting():
    assert sorted(SECTIONS) == sorted(OURS)


@pytest.mark.parametrize("name", sorted(OURS))
def test_documented_default_is_the_true_one(name):
    stated, true = _default(SECTIONS[name]), OURS[name]
    assert stated == true
    assert type(stated) is type(true)


@pytest.mark.parametrize("name", sorted(OURS))
def test_example_of_a_setting_sets_it(name):
    example = re.search(r"^Example: (.+)$", SECTIONS[name], re.MULTILINE)
    assert example
    assert example[1] == "none." or re.match(rf"`-s '?{name}=", example[1])


def test_names_that_settings_take_are_all_documented():
    for setting, names in (
        ("RULE", RULES),
        ("PROFILE", [name for name in PROFILES if name]),
        ("REWARD", REWARDS),
        ("ORDER", ORDERS),
        ("GRAPH_FORMATS", FORMATS),
        ("GRAPH_MEASURES", MEASURES),
    ):
        missing = [name for name in names if name not in SECTIONS[setting]]
        assert not missing, setting


def _setting_names(tree: ast.AST) -> set[str]:
    """Texts of the code that are, or look like, names of settings."""
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
        elif isinstance(node, ast.JoinedStr) and ast.unparse(node).startswith("f'URL_{"):
            # algorithms/url_settings.py, in its loop over these
            found |= {f"URL_{field.name.upper()}" for field in fields(Normalization) if field.init}
    return found


def test_names_of_settings_are_found_in_code():
    code = ast.parse('s.getint("MISTYPED"); chosen(s, "RESULT_FODLER"); s.get("RULE"); d.get("a")')
    assert _setting_names(code) == {"MISTYPED", "RESULT_FODLER", "RULE"}


@pytest.mark.parametrize("path", CODE, ids=[path.relative_to(ROOT).as_posix() for path in CODE])
def test_no_setting_is_mistyped_in_code(path):
    """Scrapy gives 0, 0.0 or False for a name that is no setting: only this test would tell."""
    assert _setting_names(CODE[path]) - OURS.keys() - SCRAPYS - NO_SETTINGS == set()


def test_every_setting_of_ours_is_read_somewhere():
    texts = {node.value for tree in CODE.values() for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    read = texts | {name for tree in CODE.values() for name in _setting_names(tree)}
    assert OURS.keys() - SCRAPYS - read == set()


# Stats ----------------------------------------------------------------------------------------------

COUNTING = {"inc_value", "set_value", "max_value", "min_value"}
STATES = [state.name.lower() for state in State if state is not State.WAITING]  # what has ended never waits


def _calls(tree: ast.AST, names: set[str]) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names and node.args
    ]


def _stats(trees: list[ast.Module]) -> set[str]:
    """Names of the stats that the code counts, also through methods that only pass a name on."""
    counting = set(COUNTING)
    for tree in trees:
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                parameters = {argument.arg for argument in function.args.args}
                names = [call.args[0] for call in _calls(function, COUNTING)]
                if any(isinstance(name, ast.Name) and name.id in parameters for name in names):
                    counting.add(function.name)
    found: set[str] = set()
    for tree in trees:
        for call in _calls(tree, counting):
            name = call.args[0]
            if isinstance(name, ast.Constant):
                found.add(str(name.value))
            elif isinstance(name, ast.JoinedStr):
                text = ast.unparse(name)
                state = re.fullmatch(r"f'([\w/]*)\{[\w.]*state\.name\.lower\(\)\}([\w/]*)'", text)
                assert state, f"a stat of a name that this test can't tell: {text}"
                found |= {f"{state[1]}{one}{state[2]}" for one in STATES}
            else:
                assert isinstance(name, ast.Name), ast.unparse(call)
    return found


def test_stats_are_found_in_code():
    code = """
def _count(self, name):
    self.stats.inc_value(name)
def f(self):
    self._count("a/b")
    self._count(f"c/{page.state.name.lower()}")
    stats.max_value("d", 1)
"""
    assert _stats([ast.parse(code)]) == {"a/b", "d", *(f"c/{state}" for state in STATES)}


def test_documented_stats_are_those_that_the_code_counts():
    text = (ROOT / "docs" / "reference" / "stats.md").read_text("utf-8")
    documented = re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)
    assert sorted(documented) == sorted(_stats(list(CODE.values())))


# Links and paths ------------------------------------------------------------------------------------


def _without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


def _anchors(path: Path) -> set[str]:
    """The anchors that GitHub makes of the headings."""
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


@every_document
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)\s]+)\)", _without_code(path.read_text("utf-8"))):
        if target.startswith(("https://", "http://")):
            continue
        name, _, anchor = target.partition("#")
        file = path.parent / name if name else path
        assert file.is_file(), f"{target} does not exist"
        assert not anchor or anchor in _anchors(file), f"{target}: no such heading"


def test_nothing_names_a_place_of_one_machine():
    folders = "work|root|home|Users|mnt|srv"
    place = re.compile(rf"(?<![\w.~$}}>-])/(?:{folders})/\w|[A-Z]:\\\\?Users\b")
    assert place.search(" /" + "home/somebody")
    files = [path for folder in ("crawlers", "tests", "bench", "docs", ".ci") for path in (ROOT / folder).rglob("*")]
    files += [path for path in ROOT.iterdir() if path.suffix in (".md", ".toml", ".py", ".cfg", ".txt")]
    for path in [*files, ROOT / "Makefile"]:
        if path.is_file() and path.suffix != ".pyc":
            found = place.search(path.read_text("utf-8", errors="replace"))
            assert found is None, f"{path.relative_to(ROOT)}: {found and found[0]}"


# Commands -------------------------------------------------------------------------------------------


def _commands(text: str) -> list[str]:
    """Lines of shell blocks and spans in backticks that begin with one of our programs."""
    lines = [
        line
        for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    return [one.strip() for one in lines + spans if re.match(r"(scrapy|make|python -m crawlers)\b.", one.strip())]


def _parsed(words: list[str]) -> argparse.Namespace:
    """The options of a scrapy command; fails for one that it does not have."""
    name = words[0]
    module = f"crawlers.commands.{name}"
    if importlib.util.find_spec(module) is None:
        module = f"scrapy.commands.{name}"
    command = importlib.import_module(module).Command()
    command.settings = Settings()
    parser = argparse.ArgumentParser(conflict_handler="resolve", exit_on_error=False)
    command.add_options(parser)
    known, unknown = parser.parse_known_args(words[1:])
    strange = [word for word in unknown if word.startswith("-")]
    assert not strange, f"scrapy {name} has no {strange}"
    known.arguments = unknown
    return known


def _check_scrapy(words: list[str]) -> None:
    options = _parsed(words)
    for setting in getattr(options, "set", []):
        assert setting.partition("=")[0] in OURS.keys() | SCRAPYS, setting
    if words[0] == "crawl":
        spiders = SpiderLoader.from_settings(Settings({"SPIDER_MODULES": ours.SPIDER_MODULES})).list()
        assert [name for name in options.arguments if name not in spiders] == []
        assert {argument.partition("=")[0] for argument in options.spargs} <= {"hosts", "topic", "sources"}


@every_document
def test_commands_in_documents_exist(path):
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    for line in _commands(path.read_text("utf-8")):
        words = shlex.split(line.partition(" #")[0].partition(" > ")[0].partition(" | ")[0])
        if words[0] == "make":
            assert words[1] in targets, line
        elif words[0] == "python":
            assert importlib.util.find_spec(words[2]), line
        elif len(words) > 1 and words[1] != "…":
            _check_scrapy(words[1:])


def test_readme_shows_commands():
    found = _commands((ROOT / "README.md").read_text("utf-8"))
    assert {"make demo", "scrapy crawl sitegraph -a hosts=hosts.txt", "scrapy graph"} <= set(found)


@pytest.mark.parametrize(
    "line",
    ["crawl nosuch", "crawl sitegraph -s MAX_LEVLE=3", "graph --colour red", "crawl sitegraph -a host=x"],
)
def test_a_wrong_command_would_be_found(line):
    with pytest.raises(AssertionError):
        _check_scrapy(line.split())


# The store ------------------------------------------------------------------------------------------

STORE = (ROOT / "docs" / "how-to" / "read-the-store.md").read_text("utf-8")


def test_queries_in_documents_fit_the_tables(tmp_path):
    queries = re.findall(r"^```sql\n(.*?)^```", STORE, re.MULTILINE | re.DOTALL)
    Database(f"sqlite:///{tmp_path / 'crawl.sqlite'}").close()
    with closing(sqlite3.connect(tmp_path / "crawl.sqlite")) as connection:
        for query in queries:
            assert connection.execute(query).fetchall() == []
    assert len(queries) > 5


def test_every_table_is_documented():
    documented = set(re.findall(r"^\| `(\w+)` \|", STORE, re.MULTILINE)) | {"external_url", "link_context"}
    assert documented == {*metadata.tables, "alembic_version"}


@pytest.mark.parametrize("name", ["README.md", "docs/explanation/architecture.md", "docs/how-to/read-the-store.md"])
def test_states_are_called_by_their_numbers(name):
    text = (ROOT / name).read_text("utf-8")
    for state in State:
        forms = (
            f"| {state.name.lower()} | {state.value} |",
            f"{state.name} {state.value}",
            f"{state.value} {state.name.lower()}",
        )
        assert any(form in text for form in forms), state
