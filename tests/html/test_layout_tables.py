"""Tables that only lay out a page are what they hold."""

from tests.support.builders import parsed
from tests.support.structure import html_of


def test_a_table_of_layout_is_no_table() -> None:
    """Its cells are what they hold."""
    assert "<p>a</p><p>b</p>" == html_of("<table><tr><td>a</td></tr><tr><td><p>b</td></tr></table>")


def test_a_table_of_pictures_is_no_table() -> None:
    """Its cells say nothing together."""
    picture = "<td><img src=x>"

    assert "<table>" not in html_of(f"<table><tr><th>a{picture}<tr>{picture}{picture}</table><p>b")
    assert "<table>" in html_of(f"<table><tr><th>a{picture}<tr><td>b{picture}</table><p>b")


def test_headings_and_texts_in_a_column_are_sections() -> None:
    """Also where the headings are header cells; a column of short texts is a table."""
    text = "a " * 60 + "a"

    assert f"<h2>h</h2><p>{text}</p>" == html_of(f"<table><tr><th><h2>h</h2></th></tr><tr><td>{text}</td></tr></table>")
    assert "<table>" in html_of("<table><tr><th>h</th></tr><tr><td>a</td></tr></table>")


def test_a_table_of_data_may_end_in_a_note() -> None:
    """However long a text, if most rows above it have several cells; below a row or two it is an article."""
    rows, note = "<tr><td>a<td>b" * 3, f"<td colspan=2>{'note ' * 100}"

    assert "<table>" in html_of(f"<table>{rows}<tr>{note}</table>")
    assert "<table>" not in html_of(f"<table>{rows}<tr>{note * 2}</table>")
    assert "<table>" not in html_of(f"<table><tr>{note}{rows}</table>")
    assert "<table>" not in html_of(f"<table><tr><td>a<td>b<tr><td>a<td>b<tr>{note}</table>")
    assert "<table>" not in html_of(f"<table>{rows}<tr>{note}{'long ' * 100}{'<tr><td>c' * 3}</table>")
    assert "<table>" not in html_of(f"<table>{rows}<tr>{note}<p>c<p>d<p>e</table>")


def test_scripts_and_lists_to_choose_from_are_no_text_of_a_cell() -> None:
    """However long they are, a form's rows are a table; a cell of nothing but a script does not make one."""
    options = f"<select>{'<option>Some country' * 60}</select>"
    script = "<script>write('an advertisement')</script>"
    street = "<tr><td>Street<td><p>12 Road<p>Kiel<td>*"

    assert "Street\t12 Road Kiel\t*\nCountry\t*" == _text(f"<table>{street}<tr><td>Country {options}<td>*</table>")
    assert "Street\n12 Road\nKiel\n*" == _text(f"<table>{street}<tr><td>{script}<td>{script}</table>")


def _text(html: str) -> str:
    return parsed(html).blocks.text
