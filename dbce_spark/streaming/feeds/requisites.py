"""Requisites of a page: the style sheets and images that a browser loads to show it."""

from itertools import islice

from dbce_spark.html.charset import decode
from dbce_spark.html.dom import PageError, parse_tree
from dbce_spark.html.structure.addresses import addresses, image_source


def find(html: bytes, charset: str, url: str, most: int) -> list[str]:
    """Find the URLs of a page's requisites, each once and at most so many, in the order of the page.

    `charset` is that of its header, "" if that has none; `url` is where it was found. Not looked for is what a style
    sheet, a frame or a script loads.
    """
    try:
        root = parse_tree(decode(html, charset).html)
    except PageError:
        return []
    place = addresses(root, url)
    found: dict[str, None] = {}
    for element in islice(root.iter("img", "link"), 4 * most):
        if element.tag == "img":
            target = image_source(element, place)
        else:
            is_style = "stylesheet" in (element.get("rel") or "").lower().split()
            target = place.image(element.get("href")) if is_style else None
        if target:
            found[target.partition("#")[0]] = None
    return [*islice(found, most)]
