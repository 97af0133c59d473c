"""Find what a page or a style sheet loads and rewrite these URLs; remove what acts, or leads away.

The tree of HTML is lxml's, that of CSS tinycss2's. Scripts never run, so what they would load is not looked for.
"""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urldefrag, urljoin

import tinycss2
from lxml import etree
from lxml import html as lxml_html

from dbce_spark.html.removal import remove_element
from dbce_spark.html.sealed_html import disarm_animations, disarm_embed
from dbce_spark.html.stray_parts import take_in_stray_parts

Rewrite = Callable[[str, str], str]
"""Rewrites the absolute URL of a resource of one of the kinds below."""

FRAME, STYLE, IMAGE, OTHER = "frame", "style", "image", "other"

_ACTIVE = ("script", "noscript", "object", "embed", "applet", "base", "template", "portal", "fencedframe")
_PRAGMAS = ("refresh", "content-security-policy", "set-cookie", "content-type", "x-dns-prefetch-control")
_LEFT_OUT = frozenset(
    "srcdoc autofocus autoplay ping action formaction target nonce integrity crossorigin http-equiv manifest"
    " usemap contenteditable accesskey popovertarget commandfor".split()
)
_KINDS = {
    ("img", "src"): IMAGE,
    ("image", "href"): IMAGE,
    ("image", "{http://www.w3.org/1999/xlink}href"): IMAGE,
    ("image", "xlink:href"): IMAGE,
    ("feimage", "href"): IMAGE,
    ("input", "src"): IMAGE,
    ("video", "poster"): IMAGE,
    ("iframe", "src"): FRAME,
    ("frame", "src"): FRAME,
    ("source", "src"): OTHER,
    ("video", "src"): OTHER,
    ("audio", "src"): OTHER,
    ("track", "src"): OTHER,
}
"""The kind of resource that an attribute of a tag loads without a click, by (tag, attribute)."""
_SRCSET = re.compile(r"\s*(\S+?)(\s+[^\s,]+)?\s*(?:,(?=\s|$)|,(?=https?:|//)|$)")
"""One picture of a `srcset`: its URL, which may have commas in it, and its width or density."""
_ENDS_STRING = re.compile(r'[\\"\n\r\f]')
_WEB = ("http://", "https://")
_RUN = re.compile(r"\s*\S*")
_DOCTYPE = re.compile(r"(?:[\s\ufeff]|<!--(?:(?!-->).)*-->|<\?[^>]*>)*(<!doctype[^>]*>)", re.IGNORECASE | re.DOTALL)
_START = 4096
"""Characters at the start of a page in which its document type is looked for."""


def disarm(root: Any) -> None:
    """Remove from a page what acts, what sends, and what overrides the frame it is shown in."""
    for element in [*root.iter(etree.Comment), *root.iter(etree.ProcessingInstruction), *root.iter(*_ACTIVE)]:
        _remove(element)
    for meta in [*root.iter("meta")]:
        if meta.get("charset") is not None or meta.get("http-equiv", "").strip().lower() in _PRAGMAS:
            _remove(meta)
    for link in [*root.iter("link")]:
        if "stylesheet" not in link.get("rel", "").lower().split():
            _remove(link)
    disarm_animations(root)
    for element in root.iter(etree.Element):
        for name in [*element.attrib]:
            if name.lower().startswith("on") or name.lower() in _LEFT_OUT:
                del element.attrib[name]


def rewrite_html(root: Any, base: str, rewrite: Rewrite) -> None:
    """Rewrite the URLs of all that a page loads. `base` is its URL; a <base> of its own counts, if `disarm` has left
    it.

    A link to follow looks as it did and leads nowhere: following one would leave the page that is being labelled.
    """
    for element in root.iter(etree.Element):
        tag = element.tag.lower()
        for name, value in element.attrib.items():
            lower = name.lower()
            if kind := _KINDS.get((tag, lower)) or (IMAGE if lower == "background" else None):
                element.set(name, _rewritten(value, base, kind, rewrite))
            elif lower in ("srcset", "imagesrcset"):
                element.set(name, _rewrite_srcset(value, base, rewrite))
            elif lower == "style":
                element.set(name, _rewrite_declarations(value, base, rewrite))
            elif tag == "link" and lower == "href":
                element.set(name, _rewritten(value, base, STYLE, rewrite))
            elif lower in ("href", "xlink:href") and not value.startswith("#"):
                if tag in ("a", "area"):
                    element.set(name, "#")
                else:
                    del element.attrib[name]
        if tag == "style" and element.text:
            element.text = _rewrite_style(element, base, rewrite)


def _rewrite_style(style: Any, base: str, rewrite: Rewrite) -> str:
    """Rewrite the style sheet in an element so that it neither ends the element nor begins another: escapes of CSS hide
    a "<", and in a drawing or a formula browsers read it as a tag wherever it stands."""
    css = rewrite_css(style.text, base, rewrite).replace("</", "<\\/")
    is_foreign = next(style.iterancestors("svg", "math"), None) is not None
    return "" if is_foreign and "<" in css else css


def base_url(root: Any, url: str) -> str:
    """Return the URL that a page's relative URLs are relative to: its first <base> with a `href`, or its own URL."""
    for element in root.iter("base"):
        if href := element.get("href"):
            try:
                return str(urljoin(url, href.strip()))
            except ValueError:  # a bracket without its pair: browsers pass over it
                return url
    return url


def rewrite_css(css: str, base: str, rewrite: Rewrite) -> str:
    """Rewrite all URLs that a style sheet loads: url() everywhere, and texts that @import takes as URLs."""
    rules: list[Any] = tinycss2.parse_stylesheet(css, skip_comments=True)
    return _css(rules, base, rewrite)


def _rewrite_declarations(css: str, base: str, rewrite: Rewrite) -> str:
    if "(" not in css:
        return css
    return _css(tinycss2.parse_component_value_list(css, skip_comments=True), base, rewrite)


def _css(nodes: list[Any], base: str, rewrite: Rewrite) -> str:
    for node in nodes:
        _rewrite_node(node, base, rewrite)
    try:
        return "".join(node.serialize() for node in nodes if node.type != "error")
    except RecursionError:  # blocks within blocks without end: no style sheet that anybody wrote
        return ""


def _rewrite_node(top: Any, base: str, rewrite: Rewrite) -> None:
    """Rewrite the URLs of one rule or value. Iterative: blocks nest as deep as an attacker likes."""
    waiting = [(top, IMAGE)]
    while waiting:
        node, kind = waiting.pop()
        if node.type == "at-rule":
            inner = STYLE if node.lower_at_keyword == "import" else kind
            waiting += [(one, inner) for one in (*(node.prelude or ()), *(node.content or ()))]
            if inner == STYLE:
                _rewrite_strings(node.prelude, base, rewrite)
        elif node.type == "qualified-rule":
            waiting += [(one, kind) for one in (*node.prelude, *node.content)]
        elif node.type == "url":
            _set_url(node, _rewritten(node.value, base, kind, rewrite))
        elif node.type == "function":
            if node.lower_name in ("url", "src", "image-set", "-webkit-image-set", "image"):
                _rewrite_strings(node.arguments, base, rewrite, kind)
            waiting += [(argument, kind) for argument in node.arguments]
        elif node.type in ("() block", "[] block", "{} block"):
            waiting += [(one, kind) for one in node.content]


def _rewrite_strings(nodes: list[Any], base: str, rewrite: Rewrite, kind: str = STYLE) -> None:
    for node in nodes:
        if node.type == "string":
            _set_url(node, _rewritten(node.value, base, kind, rewrite))


def _set_url(node: Any, url: str) -> None:
    node.value = url
    escaped = _ENDS_STRING.sub(lambda one: f"\\{one[0]}" if one[0] in '\\"' else f"\\{ord(one[0]):x} ", url)
    node.representation = f'url("{escaped}")' if node.type == "url" else f'"{escaped}"'


def _rewrite_srcset(value: str, base: str, rewrite: Rewrite) -> str:
    value = value.strip()
    found, at = [], 0
    while at < len(value):
        # What fails at the first letter of a run fails at the others, too; to try them takes time by their square.
        one = _SRCSET.match(value, at) or _RUN.match(value, at)
        assert one is not None  # a run may be empty
        if one.re is _SRCSET:
            found.append(f"{_rewritten(one[1], base, IMAGE, rewrite)}{one[2] or ''}")
        at = one.end()
    return ", ".join(found)


def _rewritten(value: str, base: str, kind: str, rewrite: Rewrite) -> str:
    """Rewrite one URL: pictures in the page itself stay, and a URL that is not of the web leads nowhere."""
    value = value.strip()
    if value.lower().startswith("data:"):
        return value if kind != FRAME else "about:blank"
    if value.startswith("#"):
        return value
    url = absolute(value, base)
    if not url:
        return "about:blank"
    fragment = value.partition("#")[2]
    rewritten = rewrite(url, kind)
    return f"{rewritten}#{fragment}" if fragment else rewritten


def to_html(root: Any, doctype: str) -> str:
    """Return the HTML of a tree."""
    return f"{doctype}\n{lxml_html.tostring(root, encoding='unicode')}"


def doctype(text: str) -> str:
    """Return the document type of a page, "" where it has none: browsers then lay it out as they did before
    standards."""
    found = _DOCTYPE.match(text[:_START])
    return found[1] if found else ""


def absolute(value: str, base: str) -> str:
    """Return a URL of the web without its fragment, made absolute; "" where it is none."""
    try:
        url = urldefrag(urljoin(base, value.strip())).url
    except ValueError:
        return ""
    return url if url.lower().startswith(_WEB) else ""


def parse_html(text: str) -> Any:
    """Parse a page's HTML. Any text has a tree, if only that of an empty page."""
    parser = lxml_html.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        root = None
    if root is None:
        return lxml_html.document_fromstring("<html><body></body></html>")
    take_in_stray_parts(root)
    return root


def parse_rewritten(html: str, url: str, rewrite: Rewrite) -> Any:
    """Parse a page's HTML without what acts, and with the URLs of all that it loads rewritten. `url` is its own."""
    root = parse_html(html)
    base = base_url(root, url)
    disarm(root)
    rewrite_html(root, base, rewrite)
    return root


def _remove(element: Any) -> None:
    """Remove an element; of an <embed> the tag alone."""
    if element.tag == "embed" and element.getparent() is not None:
        disarm_embed(element)
    else:
        remove_element(element)
