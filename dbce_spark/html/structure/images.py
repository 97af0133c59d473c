"""Images, each once: not the empty one that a script fills, nor the small one that stands for it until then."""

from collections import Counter
from typing import Any

from dbce_spark.html.removal import remove_elements
from dbce_spark.html.structure.kept_text import remove, space_of


def reveal_images(root: Any) -> None:
    """Put the image for readers without scripts in the place of its <noscript>, or of the empty one before it.

    A figure with one such image shows no other of the same description. Of images of one figure that have the same
    description, the first stays: they are one image in several sizes.
    """
    noscripts = [*root.iter("noscript")]
    in_figure = Counter(map(_figure, noscripts))
    bare = {one: space_of(one) for one in noscripts if next(one.iter("img"), None) is None}
    remove_elements(bare)
    for element in noscripts:
        if element not in bare:
            figure, image = _figure(element), _revealed(element)
            if figure is not None and in_figure[figure] == 1:
                _keep_alone(image, figure)
    if next(root.iter("figure"), None) is None:
        return
    seen: set[tuple[Any, str]] = set()
    again: dict[Any, str] = {}
    for image in root.iter("img"):
        figure, description = _figure(image), image.get("alt")
        if figure is not None and description:
            if (figure, description) in seen:
                again[image] = space_of(image)
            seen.add((figure, description))
    remove_elements(again)


def _revealed(noscript: Any) -> Any:
    """Take a <noscript> with an image away; return that, where it stands now."""
    image, before = next(noscript.iter("img")), noscript.getprevious()
    if before is not None and before.tag == "img" and not (before.tail or "").strip():
        before.set("data-src", image.get("src") or before.get("data-src") or "")
        image = before
    else:
        image.tail = None
        noscript.addprevious(image)
    remove(noscript)
    return image


def _figure(element: Any) -> Any:
    return next(element.iterancestors("figure"), None)


def _keep_alone(image: Any, figure: Any) -> None:
    alt = image.get("alt") or ""
    others = (one for one in figure.iter("img") if one is not image and (one.get("alt") or "") == alt)
    remove_elements({other: space_of(other) for other in others})
