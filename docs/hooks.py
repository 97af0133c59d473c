"""What the site (mkdocs.yml) has beside docs/*.md, written when it is built, so that no text stands twice.

README, CHANGELOG and CONTRIBUTING become pages; the parsers of `dbce` become the page of all options, conf/*.toml that
of all parameters, model.py that of all reasons; and every file of the repository that a page links to gets a page.
"""

import argparse
import html
import json
import posixpath
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pygments.formatters import HtmlFormatter
from pygments.lexers import find_lexer_class_for_filename

from dbce_spark.commands import cli

ROOT = Path(__file__).parents[1]
TAKEN_IN = {"index.md": "README.md", "changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}
"""Pages that are files of the repository."""
CONFIGURATION = (
    "conf/dbce.toml",
    "conf/urltree.toml",
    "conf/annotate.toml",
    "conf/labels.toml",
    "conf/learning.toml",
    "conf/export.toml",
    "conf/prices.toml",
)
_CONFIGURATION_PAGE = "reference-configuration.md"
_FILES = "files"
"""The folder of the site that holds pages of single files of the repository."""
_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")
_NESTED = re.compile(r"^(?: {3}| {5})(?=(?:[-*]|\d+\.) )", re.MULTILINE)
_NAMED = re.compile(r"\b(?:docs/[\w-]+\.md|conf/\w+\.toml)\b")
_SEARCH_INDEX = "search/search_index"


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Adds the pages that are no file of docs/."""
    for name, text in pages().items():
        files.append(File.generated(config, name, content=text))
    colours = HtmlFormatter(style="default").get_style_defs(".codehilite")
    files.append(File.generated(config, "assets/code.css", content=colours))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links as they lead from the page, not from where its text stands in the repository."""
    name = page.file.src_uri
    folder = posixpath.dirname(name.removeprefix(f"{_FILES}/")) if page.file.generated_by else "docs"
    return nested(relinked(markdown, name, folder))


def on_post_build(*, config: MkDocsConfig) -> None:
    """The index of the search as a script: one that lies in a folder may not read other files."""
    index = Path(config.site_dir, f"{_SEARCH_INDEX}.json")
    found = json.loads(index.read_text(encoding="utf-8"))["docs"]
    sections = [one for one in found if "#" in one["location"]]  # whole pages hold nothing else
    script = f"const sections = {json.dumps(sections, ensure_ascii=False)};\n"
    index.with_suffix(".js").write_text(script, encoding="utf-8")


def pages() -> dict[str, str]:
    """The text of each page that is no file of docs/, by the page's name."""
    made = {name: (ROOT / source).read_text(encoding="utf-8") for name, source in TAKEN_IN.items()}
    made["reference-cli.md"] = commands(cli.parser())
    made[_CONFIGURATION_PAGE] = configuration()
    made["reference-rejects.md"] = rejects()
    texts = [(text, "") for text in made.values()]
    texts += [(path.read_text(encoding="utf-8"), "docs") for path in sorted((ROOT / "docs").glob("*.md"))]
    return made | dict(_files(texts))


def nested(markdown: str) -> str:
    """Lists in lists, indented by four as Python-Markdown needs it: in the repository they are by three and five."""
    return _NESTED.sub(lambda found: " " * (4 if len(found[0]) == 3 else 8), markdown)


def relinked(markdown: str, name: str, folder: str) -> str:
    """Links of a text that stands in a folder of the repository, as those of the site's page `name`."""

    def link(match: re.Match[str]) -> str:
        target = _page_of(posixpath.normpath(posixpath.join(folder, match[1])))
        return f"]({posixpath.relpath(target, posixpath.dirname(name) or '.')}{match[2] or ''})" if target else match[0]

    return _LINK.sub(link, markdown)


def _page_of(path: str) -> str:
    """The page of a file or folder of the repository; "" where there is no such thing."""
    taken_in = {source: name for name, source in TAKEN_IN.items()} | dict.fromkeys(CONFIGURATION, _CONFIGURATION_PAGE)
    if path in taken_in:
        return taken_in[path]
    if path.startswith("docs/") and path.endswith(".md"):
        return path.removeprefix("docs/")
    return f"{_FILES}/{path}.md" if not path.startswith("..") and (ROOT / path).exists() else ""


def _files(texts: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Pages of the files that texts link to, each with the folder that it stands in; of a folder all that is in it."""
    linked = {
        posixpath.normpath(posixpath.join(folder, one[1])) for text, folder in texts for one in _LINK.finditer(text)
    }
    for path in sorted(one for one in linked if _page_of(one).startswith(f"{_FILES}/")):
        below = [one for one in sorted((ROOT / path).rglob("*")) if one.is_file() and "__pycache__" not in one.parts]
        for one in [ROOT / path] if (ROOT / path).is_file() else below:
            yield _page_of(one.relative_to(ROOT).as_posix()), _of_file(one)
        if below:
            names = [one.relative_to((ROOT / path).parent).as_posix() for one in below]
            yield _page_of(path), f"# {path}\n\n" + "".join(f"- [{one}]({one})\n" for one in names)


def _of_file(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    heading = f"# {path.relative_to(ROOT).as_posix()}\n\n"
    if path.suffix == ".ipynb":
        cells = [(one["cell_type"], "".join(one["source"])) for one in json.loads(text)["cells"]]
        return heading + "\n\n".join(_fenced(text, "python") if kind == "code" else text for kind, text in cells)
    lexer = find_lexer_class_for_filename(path.name)
    return heading + _fenced(text, lexer.aliases[0] if lexer else "bash" if text.startswith("#!") else "text")


def _fenced(text: str, language: str) -> str:
    return f"~~~~{language}\n{text.rstrip()}\n~~~~\n"


def commands(parser: argparse.ArgumentParser) -> str:
    """A section for each command, with its description and a table of its arguments."""
    pages = [_of_parser(one) for one in leaves(parser)]
    return "# Commands and options\n\n" + _plain(f"`dbce`: {parser.description}") + "\n\n" + "\n".join(pages)


def leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The commands that have none below them, in their order."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield parser
    for action in below:
        for one in action.choices.values():
            yield from leaves(one)


def _of_parser(parser: argparse.ArgumentParser) -> str:
    text = f"## {parser.prog}\n\n{_plain(parser.description or '')}\n\n"
    for title, actions in _tables(parser._action_groups):
        rows = [f"| {_shown(one)} | {_plain(_help(parser, one))} |\n" for one in actions]
        text += f"{title}| argument | |\n|---|---|\n{''.join(rows)}\n" if rows else ""
    return text


def _tables(groups: Sequence["argparse._ArgumentGroup"]) -> Iterator[tuple[str, list[argparse.Action]]]:
    """Those without a description in one table, each of the others in its own behind the description."""
    plain = [action for group in groups if not group.description for action in group._group_actions]
    yield "", [action for action in plain if not isinstance(action, argparse._HelpAction)]
    for group in groups:
        if group.description:
            yield _plain(f"{group.title}: {group.description}".capitalize()) + "\n\n", group._group_actions


def _shown(action: argparse.Action) -> str:
    """An argument as it is written, in code."""
    value = str(action.metavar or ("VALUE" if action.choices else action.dest.upper()))
    if not action.option_strings:
        return f"`{value}{' ...' if action.nargs in ('*', '+') else ''}`"
    return f"`{' '.join([', '.join(action.option_strings), *([] if action.nargs == 0 else [value])])}`"


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    text = parser._get_formatter()._expand_help(action)
    if action.choices:
        text += f". One of {', '.join(f'`{one}`' for one in action.choices)}"
    return f"{text}. Must be given" if action.required and action.option_strings else text


def configuration() -> str:
    """A section for each of those files: its parameters with their values, and what its comments say of them."""
    files = [f"## {path}\n\n{_of_toml((ROOT / path).read_text(encoding='utf-8'))}" for path in CONFIGURATION]
    return (
        "# Configuration\n\nThe files of defaults, as they are: what a comment says there stands below its parameter."
        " The first lines of each say how a value is changed.\n\n" + "\n".join(files)
    )


def _of_toml(text: str) -> str:
    """Markdown of a TOML file in which a comment stands above what it is about."""
    lines, comment, section, is_head = [], list[str](), "", True
    for line in text.splitlines():
        heading, parameter = re.match(r"\[(.+)\]$", line), re.match(r"(\w+)\s*=\s*(.+)$", line)
        if line.startswith("#"):
            comment.append(line.lstrip("# "))
            continue
        if parameter:
            lines += [f"#### `{section}{parameter[1]} = {parameter[2]}`", ""]
        if comment and (parameter or is_head or heading):
            lines += [_plain(" ".join(comment)), ""]
            comment = []
        if heading:
            section = f"{heading[1]}."
            lines += [f"### {heading[1]}", ""]
        is_head = False
    return "\n".join([*lines, _plain(" ".join(comment)), ""])


def rejects() -> str:
    """A table of all reasons, with what model.py says beside each."""
    text = (ROOT / "dbce_spark/model.py").read_text(encoding="utf-8")
    reasons = text.partition("class RejectReason")[2].partition("\nclass ")[0]
    found = re.findall(r'^    [A-Z_]+ = "(\w+)"(?:  # (.+))?$', reasons, re.MULTILINE)
    rows = [f"| `{reason}` | {_plain(text)} |" for reason, text in found]
    head = (
        "# Reasons of rejects\n\nWhy a record went no further: `reason` of the table [rejects](docs/tables.md#rejects)."
        " The limits among them are in [archives](docs/archives.md#limits-of-a-page), what a filter passed over is no"
        " reject but counted in [run.json](docs/tables.md#runjson).\n\n| reason | |\n|---|---|"
    )
    return "\n".join([head, *rows, ""])


def _plain(text: str) -> str:
    """A sentence of the program as Markdown: nothing in it is markup but code and the pages that it names."""
    parts = re.split(r"(`[^`]*`)", text)
    for at in range(0, len(parts), 2):
        escaped = re.sub(r"([*|\[\]\\])", r"\\\1", html.escape(parts[at], quote=False))
        parts[at] = _NAMED.sub(
            lambda name: f"[{name[0]}]({name[0]})" if (ROOT / name[0]).is_file() else name[0], escaped
        )
    return "".join(parts)
