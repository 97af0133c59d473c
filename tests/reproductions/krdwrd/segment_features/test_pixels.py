"""Features of the pixels of a segment."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dbce_spark.annotation.markup.rendering import Box, RenderedText, Rendering
from dbce_spark.errors import InputError
from reproductions.krdwrd.segment_features import pixels

NONE = dict.fromkeys(pixels.NAMES, 0.0)


def page() -> pixels.Picture:
    """Paint a white page of 100 by 100 pixels: a red square above, and ten black columns below, one in two."""
    painted = np.full((100, 100, 3), 255, np.uint8)
    painted[:10, :10] = (255, 0, 0)
    painted[50:60, 0:20:2] = 0
    return painted


def features_of(*boxes: Box, of: pixels.Picture | None = None) -> dict[str, float]:
    run = RenderedText(boxes=boxes, font_size=16, is_visible=True)
    found = pixels.features(Rendering(page="p", width=100, height=100, runs=(run,)), page() if of is None else of)
    return {name: round(value, 3) for name, value in zip(pixels.NAMES, found[0].tolist(), strict=True)}


def test_a_segment_on_the_pages_ground_is_plain() -> None:
    """White is most of the page: all but the 100 red pixels and the 100 black ones."""
    assert features_of((50, 10, 20, 20)) == NONE | {"lightness": 1, "background": 1, "background in the page": 0.98}


def test_a_coloured_ground_is_rare_in_the_page() -> None:
    """Red is a hundredth of it, and as colourful as a colour can be that is everywhere the same."""
    found = features_of((0, 0, 10, 10))

    assert (found["background"], found["background in the page"], found["contrast"]) == (1, 0.01, 0)
    assert (found["lightness"], found["colourfulness"]) == (0.299, round(0.3 * float(np.hypot(1, 0.5)), 3))


def test_columns_have_contrast_and_edges_from_side_to_side() -> None:
    """Half of the pixels are black; all of the 19 pairs of a row are edges, and none of the 180 of columns."""
    found = features_of((0, 50, 20, 10))

    assert (found["lightness"], found["contrast"], found["background"]) == (0.5, 0.5, 0.5)
    assert (found["colourfulness"], found["edges"]) == (0, round(190 / (190 + 180), 3))


def test_a_gradient_has_no_edges() -> None:
    """Its pixels change by a hundredth of the way from black to white, and no colour is frequent."""
    ramp = np.repeat(np.arange(100, dtype=np.uint8)[None, :, None], 100, axis=0).repeat(3, axis=2)
    found = features_of((0, 0, 100, 100), of=ramp)

    assert (found["edges"], found["background"]) == (0, 0.08)
    assert found["contrast"] > 0.1


def test_all_boxes_of_a_segment_count() -> None:
    """One of two boxes of the same size is red; what lies between them is not seen."""
    found = features_of((0, 0, 10, 10), (20, 20, 10, 10))

    assert (found["lightness"], found["background"], found["edges"]) == (0.65, 0.5, 0)


@pytest.mark.parametrize("box", [(-50, 0, 40, 10), (0, -50, 10, 40), (100, 0, 10, 10), (0, 300, 10, 10)])
def test_what_lies_beyond_the_picture_has_no_pixels(box: Box) -> None:
    """Left, above, right and below, alone; beside a box within, it adds nothing."""
    assert features_of(box) == features_of() == NONE
    assert features_of(box, (0, 0, 10, 10)) == features_of((0, 0, 10, 10))


def test_a_box_that_is_cut_by_the_rim_is_seen_in_part() -> None:
    """Five of its ten columns are in the picture; pixels that a box covers in part are its own."""
    assert features_of((-5, 0, 10, 10)) == features_of((0, 0, 5, 10)) == features_of((0.2, 0.2, 4.6, 9.6))


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P"])
def test_a_picture_is_read_in_three_colours(tmp_path: Path, mode: str) -> None:
    """Whatever the PNG has."""
    Image.new("L", (3, 2), 128).convert(mode).save(tmp_path / "some.png")
    found = pixels.read_picture(str(tmp_path / "some.png"))

    assert (found.shape, str(found.dtype)) == ((2, 3, 3), "uint8")
    assert found[1, 2].tolist() == [128, 128, 128]


@pytest.mark.parametrize("broken", [None, b"", b"no picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"])
def test_no_picture_is_an_error(tmp_path: Path, broken: bytes | None) -> None:
    """A file that is missing, empty, another one or cut; the error names it."""
    path = tmp_path / "some.png"
    if broken is not None:
        path.write_bytes(broken)

    with pytest.raises(InputError, match=r"some\.png: no picture"):
        pixels.read_picture(str(path))


def test_a_picture_that_is_cut_is_an_error(tmp_path: Path) -> None:
    """Its head is whole; half of its pixels are missing."""
    path = tmp_path / "some.png"
    Image.fromarray(np.random.default_rng(1).integers(0, 256, (50, 50, 3), np.uint8)).save(path)
    path.write_bytes(path.read_bytes()[:3000])

    with pytest.raises(InputError, match=r"some\.png: no picture"):
        pixels.read_picture(str(path))
