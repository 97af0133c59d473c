"""`dbce rules`: which query parameters name a document, learned from archives."""

import argparse

from dbce_spark import config as configuration
from dbce_spark.commands.arguments import INPUT_HELP
from dbce_spark.files import sources


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds it to the commands of `dbce`."""
    command = commands.add_parser(
        "rules",
        help="learn which query parameters identify a document, for conf/urltree.toml",
        description="Learn from archives which query parameters identify a document, and write the rules as TOML,"
        " with the number of duplicates after each step of the normalisation of URLs (docs/urltree.md).",
    )
    command.add_argument("input", nargs="+", metavar="INPUT", help=INPUT_HELP)
    command.add_argument(
        "--config",
        metavar="FILE",
        help="read parameters from this TOML file; those that it leaves out keep their values in conf/urltree.toml",
    )
    command.add_argument(
        "--set", action="append", default=[], metavar="SECTION.NAME=VALUE", dest="settings",
        help="set one parameter of conf/urltree.toml, such as learn.least=10; may be repeated",
    )  # fmt: skip
    command.set_defaults(run=_rules)


def _rules(arguments: argparse.Namespace) -> None:
    from dbce_spark.streaming import parameter_rules
    from dbce_spark.streaming.urltree import rule_learning, urltree_settings

    config, tree = configuration.default(), urltree_settings.load(arguments.config, arguments.settings)
    found = parameter_rules.learn_rules(sources.expand(arguments.input, config.input.patterns), config, tree)
    steps = ", ".join(f"{step} {count:,}" for step, count in found.duplicates.items())
    print(f"# {found.documents:,} documents; duplicates within their domain by {steps}")
    print(rule_learning.as_toml(found.rules), end="")
