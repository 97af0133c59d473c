"""Headings without the links to themselves."""

from typing import Any

from dbce_spark.html.structure.addresses import Addresses
from dbce_spark.html.structure.kept_text import remove

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def drop_permalinks(root: Any, addresses: Addresses) -> None:
    """Take out links in headings that show no word, such as # and ¶; others to the page itself lose their address."""
    for heading in [*root.iter(*_HEADINGS)]:
        around = next(heading.iterancestors("a"), None)
        for link in [*heading.iter("a"), *([] if around is None else [around])]:
            reference = (link.get("href") or "").strip()
            if not (reference.startswith("#") or addresses.is_own(reference)):
                continue
            if (
                any(character.isalnum() for character in "".join(link.itertext()))
                or next(link.iter("img"), None) is not None
            ):
                del link.attrib["href"]
            else:
                remove(link)
