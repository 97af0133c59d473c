"""Invented text."""

from random import Random

import pytest

from benchmarks.samples.prose import Register
from benchmarks.samples.sample_languages import ENGLISH, GERMAN, JAPANESE, RUSSIAN, Language


def test_slots_are_filled() -> None:
    """A slot takes a word of its list or one of its choices; slots in list entries are filled too."""
    register = Register(
        {"noun": ["old {tree}"], "tree": ["oak"]}, sentences=["“[an] {noun} fell.”"], headlines=["{tree}"], gap=" "
    )
    assert "“An old oak fell.” “An old oak fell.”" == register.paragraph(Random(1), 2)
    assert "Oak" == register.headline(Random(1))


def test_phrases_vary() -> None:
    """One list entry with slots gives many phrases."""
    digits = [str(digit) for digit in range(10)]
    register = Register({"number": ["{digit}{digit}"], "digit": digits}, sentences=["{number}"], headlines=[], gap=" ")
    assert len({register.sentence(Random(seed)) for seed in range(200)}) > 20


@pytest.mark.parametrize("language", [ENGLISH, GERMAN, RUSSIAN, JAPANESE])
def test_no_slot_is_left_open(language: Language) -> None:
    """No sentence of any register keeps a brace, a bracket or a bar."""
    texts = [
        r.paragraph(Random(seed), 200) + r.headline(Random(seed))
        for r in language.registers.values()
        for seed in range(3)
    ]
    assert [] == [text for text in texts if set(text) & set("{}[]|")]
