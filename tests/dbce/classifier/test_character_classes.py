"""Classes of characters, in whatever script."""

import pytest

from dbce_spark.dbce.classifier.character_classes import (
    AT,
    BAR,
    COLON,
    COMMA,
    CURRENCY,
    DIGIT,
    LETTER,
    LOWER,
    POINTER,
    PUNCTUATION,
    RIGHTS,
    STOP,
    SYMBOL,
    UPPER,
)
from tests.support.builders import laid


@pytest.mark.parametrize(
    ("character", "expected"),
    [
        ("a", LOWER), ("Ä", UPPER), ("本", LETTER), ("7", DIGIT), ("٣", DIGIT),
        (",", COMMA), ("、", COMMA), (".", STOP), ("。", STOP), ("?", STOP),
        ("(", PUNCTUATION), ("€", CURRENCY), ("+", SYMBOL),
        ("©", RIGHTS), ("»", POINTER), ("→", POINTER), ("|", BAR), ("：", COLON),
        ("@", AT), ("\U0003ffff", LETTER),
    ],
)  # fmt: skip
def test_classes_of_characters(character: str, expected: int) -> None:
    """In whatever script."""
    page = laid(f"<p>x{character}</p>")

    assert expected == page.last_classes[0]
