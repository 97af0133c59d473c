"""The language of a text: right, sure of itself as far as it is right, and the same everywhere."""

import json
import lzma
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.html.language import SCORE_STEPS, UNKNOWN, Language, detect

TEXTS = {
    "de": "Der Bäcker am Markt öffnet jeden Morgen um sechs, und seine Brötchen sind meist schon um neun verkauft.",
    "en": "The baker on the market square opens at six every morning, and most of his rolls are sold by nine.",
    "fr": "Le boulanger de la place ouvre chaque matin à six heures, et presque tout son pain est vendu à neuf heures.",
    "el": "Ο φούρναρης στην πλατεία ανοίγει κάθε πρωί στις έξι και το ψωμί του τελειώνει συνήθως πριν από τις εννέα.",
    "ru": "Пекарь на площади открывает лавку каждое утро в шесть, и почти весь хлеб продан уже к девяти часам.",
    "pl": "Piekarz na rynku otwiera codziennie o szóstej rano, a większość jego bułek jest sprzedana do dziewiątej.",
    "zh": "广场上的面包师每天早上六点开门，大部分面包到九点就已经卖完了。",
    "ja": "広場のパン屋は毎朝六時に開き、九時にはほとんどのパンが売り切れている。",
}


def language(text: str, *, min_words: int = 1, sample_chars: int = 600) -> Language:
    """Detect the language of one text."""
    (found,) = detect([text], min_words=min_words, sample_chars=sample_chars)
    return found


@pytest.mark.parametrize("tag", TEXTS)
def test_language(tag: str) -> None:
    """A sentence is recognised, and surely."""
    found = language(TEXTS[tag])

    assert tag == found.tag
    assert 0.9 <= found.score <= 1


def test_chinese_of_hong_kong() -> None:
    """Chinese as it is spoken, and sometimes written, in Hong Kong is Chinese: so pages declare it."""
    assert language("佢哋今日喺公園食嘢，唔知點解咁多人嚟睇，我哋聽日再嚟過啦。").tag == "zh"


@pytest.mark.parametrize("text", ["", " \n ", "two words", TEXTS["zh"][:9], "1 2 3 4 5 6 7 8 9"])
def test_short_text(text: str) -> None:
    """A text of too few words is of no known language; in scripts without spaces, of too few characters."""
    assert UNKNOWN == Language("", 0.0) == language(text, min_words=10, sample_chars=600)


def test_shortest_text() -> None:
    """With as many words as are asked for, a text has a language."""
    text = " ".join(TEXTS["en"].split()[:10])

    assert language(text, min_words=10, sample_chars=600).tag == "en"
    assert language(text, min_words=11, sample_chars=600) == UNKNOWN


def test_numbers() -> None:
    """A table of numbers is in no language to be sure of."""
    assert language("12 345 67.8 90 11 2012-12-01 13:45 100 % 7 8 9").score < 0.5


def test_most_of_a_text_decides() -> None:
    """A long quotation at the start does not make a text one in the quoted language."""
    text = "\n".join([TEXTS["en"]] * 3 + [TEXTS["fr"]] * 7)

    assert language(text).tag == "fr"


def test_three_stretches() -> None:
    """Only start, middle and end of a long text are read: the time does not grow with it."""
    polish, between = TEXTS["pl"][:100], TEXTS["fr"] * 20
    text = polish + between + polish + between + polish

    assert language(text, min_words=1, sample_chars=300).tag == "pl"
    assert language(text, min_words=1, sample_chars=len(text)).tag == "fr"


def test_capitals() -> None:
    """A text in capitals throughout is read as if it were not."""
    assert language(TEXTS["de"].upper()).tag == "de"


@given(st.text(max_size=80))
def test_any_text(text: str) -> None:
    """Whatever the text, there is a tag with a score, in steps, and again the same one."""
    found = language(text)

    assert found == language(text)
    assert (found == UNKNOWN) == (found.tag == "")
    assert 0 <= found.score <= 1
    assert found.score == round(found.score * SCORE_STEPS) / SCORE_STEPS


@given(st.lists(st.sampled_from([*TEXTS.values(), "", "x", "12 13 14", "\ud800", TEXTS["ja"] * 9]), max_size=8))
def test_texts_together(texts: list[str]) -> None:
    """A text has the language that it has by itself, whatever texts are beside it."""
    assert detect(texts, min_words=1, sample_chars=600) == [language(text) for text in texts]


def test_surrogates() -> None:
    """Halves of characters, as broken scripts leave them, are no error."""
    assert language("\ud800 " + TEXTS["en"]).tag == "en"


def test_model_is_loaded_late() -> None:
    """Importing the module, or passing no text or one that is too short, does not load the model."""
    code = (
        "import sys\n"
        "from dbce_spark.html.language import detect\n"
        "detect(['short'], min_words=10, sample_chars=600)\n"
        "assert 'py3langid' not in sys.modules\n"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_same_score_however_many_threads() -> None:
    """The score is that of a process of its own with as many threads as there are cores."""
    code = (
        "from dbce_spark.html.language import detect\n"
        + f"print(*detect([{TEXTS['pl'][:40]!r}], min_words=1, sample_chars=600))"
    )
    environment = {"OPENBLAS_NUM_THREADS": "4", "PYTHONIOENCODING": "utf-8", "PYTHONHASHSEED": "7"}
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)

    assert str(language(TEXTS["pl"][:40])) == run.stdout.strip()


@pytest.mark.data
@pytest.mark.parametrize(("name", "expected"), [("daniel", 1.0), ("europa", 0.96)])
def test_languages_of_real_texts(shared_data: Path, name: str, expected: float) -> None:
    """The main texts of real pages are recognised; on europa's, but for pages that were never translated."""
    with lzma.open(shared_data / "gold" / f"{name}.jsonl.xz", "rt") as lines:
        pages = [json.loads(line) for _, line in zip(range(240), lines, strict=False)][::4]
    right = sum(language(one["gold"], min_words=10, sample_chars=600).tag in (one["lang"], "") for one in pages)

    assert right >= expected * len(pages)
