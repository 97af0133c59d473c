"""The command line of a program, whose help is the docstring of its module."""

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter


def program_parser() -> ArgumentParser:
    """Build a parser without arguments for the module that Python was told to run by `-m`."""
    program = sys.modules["__main__"]
    assert program.__spec__ is not None
    name = program.__spec__.name.removesuffix(".__main__")
    return ArgumentParser(
        prog=f"python -m {name}", description=program.__doc__, formatter_class=RawDescriptionHelpFormatter
    )
