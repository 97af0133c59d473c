"""Features of the pixels of a segment: of what a picture of its page has within its boxes (KrdWrd 2.2.3.3).

KrdWrd passed masks of these boxes to JAMF, a framework of models of attention, whose filters its text does not name.
These are the simplest of what such models begin with: lightness, colour and edges.
"""

from collections.abc import Sequence
from math import ceil, floor

import numpy as np
import numpy.typing as npt
from PIL import Image

from dbce_spark.annotation.markup.rendering import Box, RenderedText, Rendering
from dbce_spark.errors import InputError
from reproductions.krdwrd.segment_features import Values

Picture = npt.NDArray[np.uint8]
"""(height, width, 3): red, green and blue of the pixels of a page."""

NAMES = (
    "lightness",  # mean, from black at 0 to white at 1
    "contrast",  # standard deviation of the lightness
    "background",  # share of the most frequent colour
    "background in the page",  # share that this colour has of the whole page
    "colourfulness",  # by Hasler and Süsstrunk (2003), of colours from 0 to 1
    "edges",  # share of neighbouring pixels that differ in their lightness
)

_LIGHTNESS = np.array([0.299, 0.587, 0.114])
"""Weights of red, green and blue (Rec. 601)."""

_EDGE = 0.1
"""Difference in lightness that is an edge: a gradient changes less from pixel to pixel, the rim of a letter more."""

_STEPS = 32
"""Colours are counted in so many steps of red, green and blue: a few shades of white are one background."""


def read_picture(path: str) -> Picture:
    """Read a picture that `dbce labels render --screenshots` kept.

    Raises:
        InputError: there is none, or it cannot be decoded.
    """
    try:
        with Image.open(path) as picture:
            return np.asarray(picture.convert("RGB"))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise InputError(
            f"{path}: no picture: {error}; run `dbce labels render` with --screenshots for all pages"
        ) from error


def features(rendering: Rendering, picture: Picture) -> Values:
    """Compute one row a segment, with the columns of NAMES; of a segment without a box in the picture all are 0."""
    counted = np.bincount(_colours(picture).ravel(), minlength=_STEPS**3)
    shares = counted / max(1, counted.sum())
    rows = [_of_run(run, picture, shares) for run in rendering.runs]
    return np.array(rows, np.float64).reshape(-1, len(NAMES))


def _of_run(run: RenderedText, picture: Picture, shares: npt.NDArray[np.float64]) -> list[float]:
    """Compute the features of one segment; `shares` has those of the page's colours."""
    parts = [part for box in run.boxes if (part := _within(picture, box)).size]
    if not parts:
        return [0.0] * len(NAMES)
    pixels = np.concatenate([part.reshape(-1, 3) for part in parts])
    lightness = _lightness(pixels)
    colours = np.bincount(_colours(pixels))
    background = int(colours.argmax())
    return [
        float(lightness.mean()),
        float(lightness.std()),
        float(colours[background]) / len(pixels),
        float(shares[background]),
        _colourfulness(pixels),
        _edges(parts),
    ]


def _within(picture: Picture, box: Box) -> Picture:
    """Cut a box out, with the pixels that it covers in part; what lies beyond the picture is left out."""
    left, top, wide, high = box
    return picture[
        max(0, floor(top)) : max(0, ceil(top + high)),
        max(0, floor(left)) : max(0, ceil(left + wide)),
    ]


def _lightness(pixels: Picture) -> Values:
    found: Values = pixels @ _LIGHTNESS / 255
    return found


def _colours(pixels: Picture) -> npt.NDArray[np.intp]:
    """Number the colours of pixels, in steps."""
    red, green, blue = np.moveaxis(pixels // (256 // _STEPS), -1, 0).astype(np.intp)
    found: npt.NDArray[np.intp] = (red * _STEPS + green) * _STEPS + blue
    return found


def _colourfulness(pixels: Picture) -> float:
    red, green, blue = pixels.T / 255
    opponents = np.array([red - green, (red + green) / 2 - blue])
    return float(np.hypot(*opponents.std(axis=1)) + 0.3 * np.hypot(*opponents.mean(axis=1)))


def _edges(parts: Sequence[Picture]) -> float:
    """Compute the share of the pairs of pixels, side by side and one above the other, that an edge lies between."""
    pairs = [np.abs(np.diff(light, axis=axis)).ravel() for light in map(_lightness, parts) for axis in (0, 1)]
    steps = np.concatenate(pairs)
    return float((steps > _EDGE).mean()) if steps.size else 0.0
