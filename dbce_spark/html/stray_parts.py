"""Parts of a page that libxml2 leaves outside of its body, where a browser has them in it (HTML 13.2.6.4)."""

from typing import Any

from lxml import etree

_METADATA = frozenset("base link meta noframes noscript object script style template title".split())
"""Elements that a head may hold; before any other one a browser begins the body."""


def take_in_stray_parts(root: Any) -> None:
    """Bring into the body what stands behind </html>, for which libxml2 begins another root; and take out of the head
    the body, and what has text, where libxml2 leaves them there behind an element that it does not know; also the body
    out of frames."""
    head, body = root.find("head"), root.find("body")
    if body is None and (body := next(root.iter("body"), None)) is not None:
        root.append(body)
    if head is not None and (stray := [one for one in head if one.tag not in _METADATA and _has_text(one)]):
        behind = root.index(head) + 1
        root[behind:behind] = stray
    if others := [*root.itersiblings("html")]:
        if body is None:
            body = etree.SubElement(root, "body")
        body.extend(others)
        etree.strip_tags(body, "html")


def _has_text(element: Any) -> bool:
    return bool((element.tail or "").strip()) or any(text.strip() for text in element.itertext())
