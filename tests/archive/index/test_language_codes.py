"""Codes of languages."""

import pytest

from dbce_spark.archive.index.language_codes import three_letters


@pytest.mark.parametrize(
    ("written", "expected"),
    [("de", "deu"), ("de-AT", "deu"), ("en_GB", "eng"), ("GER", "deu"), ("deu", "deu"), ("iw", "heb"), ("gsw", "gsw")],
)
def test_code(written: str, expected: str) -> None:
    """Two letters, a region, the library's code: all are the three letters of ISO 639-3."""
    assert expected == three_letters(written)
