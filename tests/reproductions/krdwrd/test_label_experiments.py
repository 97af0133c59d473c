"""KrdWrd's corpus taken over, and learnt from, by commands."""

import json
from pathlib import Path

import pytest
from PIL import Image

from dbce_spark.annotation.labels.labelling import read
from dbce_spark.annotation.markup import page_file, rendering
from dbce_spark.annotation.markup.rendering import RenderedText, Rendering
from dbce_spark.model import Label
from reproductions import __main__ as reproductions

PAGES = 12


@pytest.fixture
def krdwrd(tmp_path: Path) -> Path:
    """Twelve pages of a menu, a link and two sentences, each with the votes of five annotators who all agree."""
    (tmp_path / "votes").mkdir()
    (tmp_path / "votes" / "plan.canola").write_text("".join(f"{at}\n" for at in range(PAGES)), "utf-8")
    lines = []
    for at in range(PAGES):
        body = "".join(
            f'<p class="krdwrd-tag-3">The sentence {part} of page {at} ends here, as others do.</p>'
            for part in range(4)
        )
        menu = "".join(f'<li class="krdwrd-tag-1"><a href="/{part}">entry {part}</a></li>' for part in range(6))
        html = f'<body><ul>{menu}</ul>{body}<i class="krdwrd-tag-2">caption</i></body>'
        lines.append(json.dumps({"id": str(at), "html_annotated": html, "url": f"http://{at}.example/"}))
        tags = ["krdwrd-tag-1"] * 6 + ["krdwrd-tag-3"] * 4 + ["krdwrd-tag-2"]
        rows = "".join(f"2\t{tag}-100\t{chr(9).join([tag] * 5)}\n" for tag in tags)
        (tmp_path / "votes" / f"{at}.stats").write_text(
            f"# submitted : 5\n# tokens\tmerged\t1\t2\t3\t4\t5\n{rows}", "utf-8"
        )
    (tmp_path / "canola.jsonl").write_text("\n".join(lines), "utf-8")
    return tmp_path


def test_krdwrds_corpus_becomes_pages_labels_and_a_report(krdwrd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its votes, merged, are its gold tags here."""
    out = krdwrd / "out"
    given = [str(krdwrd / "canola.jsonl"), "--votes", str(krdwrd / "votes")]
    assert reproductions.main(["canola", *given, "--output", str(out)]) == 0

    assert capsys.readouterr().out.startswith("12 pages, 60 submissions of 12; pi 1.000")
    assert read(str(out / "gold.jsonl")) == read(str(out / "votes.jsonl"))
    assert [one.url for one in page_file.read(str(out / "pages.jsonl"))] == [
        f"http://{at}.example/" for at in range(PAGES)
    ]
    assert "Pages by π" in (out / "report.html").read_text("utf-8")


def test_what_is_learnt_is_a_table(krdwrd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a rendering there are words and DOM alone; sentences differ clearly from links."""
    out = krdwrd / "out"
    given = [str(krdwrd / "canola.jsonl"), "--votes", str(krdwrd / "votes")]
    assert reproductions.main(["canola", *given, "--output", str(out)]) == 0
    learnt = ["--labels", str(out / "gold.jsonl"), "--output", str(out / "table.md")]
    assert reproductions.main(["learn", str(out / "pages.jsonl"), *learnt, "--tags", str(out / "tags")]) == 0

    table = (out / "table.md").read_text("utf-8")
    assert "| cl | 21 | 1.000 | 1.000 | 1.000 |" in table
    assert "| viz |" not in table
    assert sorted(one.name for one in (out / "tags").iterdir()) == [
        "cl-dom-regression.jsonl",
        "cl-dom.jsonl",
        "cl-regression.jsonl",
        "cl.jsonl",
        "dom-regression.jsonl",
        "dom.jsonl",
        "vote.jsonl",
    ]
    assert read(str(out / "tags" / "cl.jsonl"))["0"][:7] == (Label.BOILERPLATE,) * 6 + (Label.CONTENT,)
    assert "132 segments of 12 pages, 10 folds by pages" in capsys.readouterr().out


def test_pixels_are_learnt_from_where_pictures_were_kept(krdwrd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Sentences stand on white and links on black, which pixels alone tell; without the boxes pictures are refused."""
    out, looks = krdwrd / "out", str(krdwrd / "looks.jsonl")
    given = [str(krdwrd / "canola.jsonl"), "--votes", str(krdwrd / "votes")]
    assert reproductions.main(["canola", *given, "--output", str(out)]) == 0
    names = [page.page for page in page_file.read(str(out / "pages.jsonl"))]
    runs = tuple(RenderedText(boxes=((0, 10 * at, 9, 9),), font_size=16, is_visible=True) for at in range(11))
    rendering.write(looks, (Rendering(page=name, width=20, height=110, runs=runs) for name in names))
    picture = Image.new("RGB", (20, 110), "black")
    picture.paste("white", (0, 60, 20, 100))
    for name in names:
        picture.save(rendering.picture_path(str(krdwrd), name))
    learn = ["learn", str(out / "pages.jsonl"), "--labels", str(out / "gold.jsonl"), "--screenshots", str(krdwrd)]

    assert reproductions.main([*learn, "--output", str(out / "table.md")]) == 2
    assert "give --rendering, too" in capsys.readouterr().err
    assert reproductions.main([*learn, "--rendering", looks, "--output", str(out / "table.md")]) == 0
    assert "| pixels | 6 | 1.000 | 1.000 | 1.000 |" in (out / "table.md").read_text("utf-8")
