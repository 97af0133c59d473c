"""`dbce rules`: learn from archives the query parameters that name a document."""

import argparse

from dbce_spark import config as configuration
from dbce_spark.commands.arguments import INPUT_HELP, OF_TREE, add_settings, add_urltree
from dbce_spark.commands.command_parser import Commands, add_command
from dbce_spark.errors import InputError
from dbce_spark.files import sources
from dbce_spark.log import counted


def add(commands: Commands) -> None:
    """Add it to the commands of `dbce`."""
    command = add_command(
        commands, "rules", _rules, "learn which query parameters identify a document, for conf/urltree.toml"
    )
    command.add_argument("input", nargs="+", metavar="INPUT", help=INPUT_HELP)
    add_urltree(command)
    command.take_earlier("--config", "--urltree")
    add_settings(command, "conf/urltree.toml, such as urltree.learn.least=10")


def _rules(arguments: argparse.Namespace) -> None:
    """Learn from archives which query parameters identify a document, and print the rules as TOML, with the number of
    duplicates after each step of the normalisation of URLs (docs/urltree.md)."""
    from dbce_spark.streaming import parameter_rules
    from dbce_spark.streaming.urltree import rule_learning, urltree_settings

    settings = [one.removeprefix(OF_TREE) for one in arguments.settings]
    config, tree = configuration.default(), urltree_settings.load(arguments.urltree, settings)
    learned = parameter_rules.learn_rules(sources.expand(arguments.input, config.input.patterns), config, tree)
    if not learned.documents:
        raise InputError(f"{arguments.input[0]}: no document was found, so there is nothing to learn from")
    steps = ", ".join(f"{step} {count:,}" for step, count in learned.duplicates.items())
    print(f"# {counted(learned.documents, 'document')}; duplicates within their domain by {steps}")
    print(rule_learning.as_toml(learned.rules), end="")
