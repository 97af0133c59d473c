"""The options of `dbce corpus` and `dbce export` that filter rows."""

import argparse

from dbce_spark.commands.arguments import add_dates, add_languages, add_sites, default_of, names
from dbce_spark.config import STATUSES


def add_row_options(command: argparse.ArgumentParser, section: str, file: str) -> None:
    """Add an option for each parameter of `RowsConfig`; a section of a file of conf/ has the defaults."""
    group = command.add_argument_group("rows", f"choose the rows to keep (default: [{section}] of conf/{file})")
    add_sites(group, "keep pages", f"{section}.sites")
    add_dates(group, "keep captures", section)
    group.add_argument(
        "--status", choices=STATUSES, nargs=1, dest=f"{section}.statuses",  # nargs: the parameter is a list
        help="keep pages that were compared with siblings (crossed), or labelled alone (single)",
    )  # fmt: skip
    add_languages(group, "keep texts in these languages, such as de or deu", f"{section}.languages")
    group.add_argument(
        "--page-type", action="extend", type=names, dest=f"{section}.page_types", metavar="TYPE,...",
        help="keep pages of these types, such as article,page (column page_type, docs/tables.md)",
    )  # fmt: skip
    group.add_argument(
        "--without-flag", action="extend", type=names, dest=f"{section}.without_flags", metavar="NAME,...",
        help="leave out pages with one of these flags, such as truncated,damaged: their record is cut, or fails its"
        " check (column flags, docs/tables.md)",
    )  # fmt: skip
    group.add_argument(
        "--min-confidence", type=float, dest=f"{section}.min_confidence", metavar="F1",
        help=f"keep pages with an expected F1 of at least this {default_of(f'{section}.min_confidence', file)}",
    )  # fmt: skip
    group.add_argument(
        "--min-words", type=int, dest=f"{section}.min_words", metavar="N",
        help=f"keep texts of at least N words {default_of(f'{section}.min_words', file)}",
    )  # fmt: skip


def add_relative_to(command: argparse.ArgumentParser) -> None:
    """Add the folder that paths of archives are relative to."""
    command.add_argument(
        "--relative-to", default="", metavar="DIR",
        help="write the paths of archives (warc_file) relative to this folder, which must contain them all"
        " (default: whole paths)",
    )  # fmt: skip
