"""A page as it was, but disarmed: archived pages are hostile."""

from typing import Any

from lxml import etree, html

from dbce_spark.html.dom import parse_tree
from dbce_spark.html.removal import remove_elements

ACTIVE_TAGS = ("script", "noscript", "iframe", "frame", "object", "embed", "applet", "template", "base", "link")
_URL_ATTRIBUTES = frozenset("href src action formaction data background poster srcset ping xlink:href".split())
_ANIMATED = frozenset(("attributename", "by", "from", "to", "values"))
_REPLACED_PRAGMAS = ("refresh", "content-security-policy", "set-cookie", "content-type")

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""The page may not run a script, load anything or send anything."""


def sealed_html(utf8_html: bytes) -> str:
    """Render the page as it was, but disarmed.

    Raises:
        PageError: lxml finds no element in it.
    """
    return sealed(parse_tree(utf8_html), "")


def sealed(root: Any, style: str) -> str:
    """Render the page without what acts or loads, and with a policy that forbids what might be left."""
    _disarm(root)
    head = root.find("head")
    if head is None:
        head = etree.Element("head")
        root.insert(0, head)
    etree.SubElement(head, "style").text = style
    head.insert(0, etree.Element("meta", {"http-equiv": "Content-Security-Policy", "content": POLICY}))
    head.insert(0, etree.Element("meta", charset="utf-8"))
    return f"<!DOCTYPE html>\n{html.tostring(root, encoding='unicode')}"


def _disarm(root: Any) -> None:
    # A <link> to connect or fetch ahead is not under the policy; one to a style sheet is, and would not load.
    remove_elements({element: "" for element in root.iter(*ACTIVE_TAGS) if element.tag != "embed"})
    for embed in [*root.iter("embed")]:
        disarm_embed(embed)
    drawn: dict[Any, str] = {}
    for style in root.iter("style"):
        # In a drawing or a formula a browser reads the text as markup; elsewhere it ends the style at its end tag.
        if next(style.iterancestors("svg", "math"), None) is not None:
            drawn[style] = ""
        elif style.text:
            style.text = style.text.replace("<", "\\3c ")
    remove_elements(drawn)
    disarm_animations(root)
    for element in root.iter(etree.Element):
        for name, value in element.attrib.items():
            acts = name.lower().startswith("on")
            if acts or (name.lower() in _URL_ATTRIBUTES and _is_active_url(value)):
                del element.attrib[name]
    remove_elements({meta: "" for meta in root.iter("meta") if _is_replaced(meta)})


def disarm_embed(embed: Any) -> None:
    """Turn an <embed> into a <span>: libxml2 lets it hold what follows it."""
    embed.tag = "span"
    embed.attrib.clear()


def disarm_animations(root: Any) -> None:
    """Take the values out of the animations of a page: one can put the address of a script into a link."""
    for element in root.iter("animate", "set"):
        for name in [*element.attrib]:
            if name.lower() in _ANIMATED:
                del element.attrib[name]


def _is_replaced(meta: Any) -> bool:
    return meta.get("charset") is not None or meta.get("http-equiv", "").strip().lower() in _REPLACED_PRAGMAS


def _is_active_url(value: str) -> bool:
    compact = "".join(character for character in value if character > " ").lower()
    return compact.startswith(("javascript:", "vbscript:", "data:text/html", "data:image/svg"))
