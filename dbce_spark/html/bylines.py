"""Bylines: names of authors in elements, and the one that is chosen of all that a page has."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from itertools import chain, islice
from typing import Any

from dbce_spark.html.shown_text import shown_lines
from dbce_spark.html.tokens import SPACELESS

BYLINE = re.compile(
    r"[\W\d_]*+(?:(?P<verb>(?:(?:an?|ein|un)\s+)?(?:written|post(?:ed)?|published|article|artikel|beitrag|geschrieben|veröffentlicht)"
    r"(?:\s+(?:on|am)\s.{4,30}?)?\s+)?(?:by|von|par|por|di|door|av|af)(?=\s*$|[\s:])"
    r"|(?P<noun>text|autor(?:in)?|author|auteur|writer|verfasser(?:in)?)s?\s*:)\s*:?\s*(?P<name>.*)",
    re.IGNORECASE | re.DOTALL,
)
"""Words that stand before a name, in the languages of most pages; the name itself may be in an element of its own."""
HINT = "href:user"
"""A place whose names are no answer, but a sign that another one is right."""
MAX_BYLINE = 100
"""Characters: what is longer is a sentence."""
_SMALL_LETTERS = "a-z" + "".join(filter(str.islower, map(chr, range(0x80, 0x2000))))
_CAPITAL = rf"[^\W\d_{_SMALL_LETTERS}\u0590-\u1dff\u2c00-\uffff]"
"""A letter of a script that has small ones as well, and none of those."""
NAME = re.compile(
    rf"(?:(?:Dr|Prof)\.? ){{0,3}}{_CAPITAL}[\w.'’-]*"
    rf"(?: (?:(?:von|van|de|der|di|la|le) ){{0,2}}{_CAPITAL}[\w.'’-]*){{1,3}}"
)
"""Two to four words with capitals, as of a person."""
_AND = r"(?:,? (?:and|und|et|y|e|en|och|og)|,? ?&) "
"""Before the last name of a list, in the languages of `BYLINE`."""
NAMES = re.compile(rf"{NAME.pattern}(?:(?:, {NAME.pattern}){{0,6}}{_AND}{NAME.pattern})?")
"""One name, or a list that ends with "and" and a name; where nothing but commas follow, a role or a place may."""
_BETWEEN_NAMES = re.compile(rf"{_AND}|, ")
_NICKNAME = re.compile(rf"{_CAPITAL}[\w.'’-]+")
"""One, where the words before it say that it is a name."""
_NO_NAME = re.compile(r"https?:|^[@(\d]|\w@\w", re.IGNORECASE)
_SENTENCE = re.compile(rf"[。！？]|[!?؟।]$|[{SPACELESS}]{{21}}")
"""A sign that ends sentences, or, in a script without spaces, more characters in a row than lists of names have."""
_BEHIND_NAME = re.compile(r"\s[|•·–—-]\s|\s*[|•·]\s*|,\s*\d|\s\d{1,2}[./]|\s+[(<\[]?\S*@\w")
_NOT_LETTERS = re.compile(r"\W+")
_SIGN = re.compile(r"\s[|•·–—/»-](?:\s|$)|\s*[|•·]\s*")
_DASHES = ("-", "–", "—")
"""Before a name they say whose a quotation is."""
_AROUND = " ,:|–—-"
_NUMBER = re.compile(r"(?:^|[\s,])\d")
_MONTH_FIRST = re.compile(r"\d{1,2}[^\W\d_]{0,2}(?:,|\.?$|\s+\d)|\d{4}(?![\d./-])")
"""The rest of a date whose month stands before it, as in May 3, 2014."""
_DAY_FIRST = re.compile(rf"\d{{1,2}}\.?\s+{_CAPITAL}")
"""The start of a date whose month stands behind it, perhaps with a weekday before."""
_PLAIN_CLASS = re.compile(r"(?<!\S)[^\d\s]+(?!\S)")
"""A class without a number; one with a number is often that of a single item."""
_MOST_PARTS = 100
"""Elements of a byline in which its first name is looked for."""
_SMALL = re.compile(r"(?:\s+[a-zß-ÿ]+)+$")


def named_by(element: Any) -> str:
    """Find the names in an element that says by whom it is; "" where it does not.

    Behind the first name those count that only commas part from it, if they are in elements of the same kind.
    """
    first = named_in(shown_lines(element))
    return _with_others(first, element) if first else ""


def _with_others(first: str, element: Any) -> str:
    """Add the names that follow the first one in an element."""
    names = [first]
    parts = islice(element.iterdescendants("*"), _MOST_PARTS)
    one = next(filter(lambda part: (part.text or "").strip() == first, parts), None)
    while one is not None and (one.tail or "").strip() == ",":
        kind, one = _kind(one), one.getnext()
        if one is None or _kind(one) != kind or not NAME.fullmatch(name := shown_lines(one)):
            break
        names.append(name)
    return ", ".join(names)


def _kind(element: Any) -> tuple[str, str | None]:
    return element.tag, element.get("class")


def named_in(text: str) -> str:
    """Find the names in a text that says by whom it is; "" where it does not."""
    byline = BYLINE.match(text) if len(text) < MAX_BYLINE else None
    if byline is None:
        return ""
    name = NAMES.match(byline["name"]) or (
        _NICKNAME.match(byline["name"]) if byline["verb"] or byline["noun"] else None
    )
    return name.group() if name else ""


def name_of(element: Any) -> str:
    """Read the name in an element that is for one: behind "by", on a line with the form of a name, or on the only one.

    "" where it may be something else.
    """
    text = shown_lines(element)
    if first := named_in(text):
        return _with_others(first, element)
    byline = BYLINE.match(text)
    if byline is None and (len(text) >= MAX_BYLINE or text.startswith(_DASHES)):
        return ""
    lines = [part for line in (byline["name"] if byline else text).split("\n") for part in _SIGN.split(line)]
    names = [name for line in lines if (name := named_in(line) or _before_date(line.strip(_AROUND)))]
    if byline:
        names = names[:1]
    if (formed := next(filter(NAME.fullmatch, names), "")) or len(names) != 1:
        return formed
    if len(lines) == 1 or not _SMALL.search(names[0]):
        return names[0]
    return _SMALL.sub("", names[0]) if byline else ""


def _before_date(line: str) -> str:
    """Cut a line behind a name at a date, with the word before its number, which may be a month.

    "" where what is left is no name, but words before the date.
    """
    number = _NUMBER.search(line)
    if number is None:
        return line if len(line) < MAX_BYLINE else ""
    words, date = line[: number.end() - 1].split(), line[number.end() - 1 :]
    if not words or len(line) >= MAX_BYLINE:
        return ""
    is_day_first = _DAY_FIRST.match(date) is not None
    is_nickname = len(words) == 1 and not is_day_first and words[0][-1] not in ",:"
    if _MONTH_FIRST.match(date) or (is_day_first and len(words) > 2 and words[-1][-1] != ","):
        words.pop()
        if words and words[-1][-1] == ",":
            words.pop()
        is_nickname = False
    name = _SMALL.sub("", " ".join(words).rstrip(","))
    return name if is_nickname or NAME.fullmatch(name) else ""


def names_of_page(named: Sequence[tuple[str, Any]]) -> list[str]:
    """Keep the names that are of all the page, in their order: those before its items, each of which has another name
    in the same place."""
    places = defaultdict(list)
    for at, (_, element) in enumerate(named):
        places[_place(element)].append(at)
    of_items = [at for one in places.values() if _are_of_items([named[at] for at in one]) for at in one]
    return [name for name, _ in named[: min(of_items, default=len(named))]]


def _place(element: Any) -> tuple[str, ...]:
    """Name the place of an element in its template: the tags around it, each with the first of its classes."""
    around = chain([element], element.iterancestors())
    return tuple(f"{one.tag} {_plain_class(one)}" for one in around)


def _plain_class(element: Any) -> str:
    found = _PLAIN_CLASS.search((element.get("class") or "")[:MAX_BYLINE])
    return found.group() if found else ""


def _are_of_items(named: Sequence[tuple[str, Any]]) -> bool:
    """Test for different names that do not stand together, as those of several authors of one text do."""
    if len({plain(name) for name, _ in named}) == 1:
        return False
    first = set(named[0][1].iterancestors())
    around = next(one for one in named[-1][1].iterancestors() if one in first)
    return len(shown_lines(around)) > MAX_BYLINE


def chosen(candidates: Sequence[tuple[str, str]], site_names: Set[str]) -> Iterator[tuple[str, str]]:
    """Choose the names of the people who wrote the page, with their place: those that most places have, of these those
    with the form of a name, and of these the first; or a list of names that begins with it.

    They are a few words, or a list of names, no address, and the site's name only where nothing else is named.
    """
    named = [
        (place, name)
        for place, value in candidates
        if _is_name(name := _BEHIND_NAME.split(value, maxsplit=1)[0].strip(" ,:|"))
    ]
    names = [one for one in named if squeezed(one[1]) not in site_names] or named
    folded = [(place, f" {plain(_BETWEEN_NAMES.sub(' ', name))} ") for place, name in names]
    votes = [len({where for where, other in folded if own in other or other in own}) for _, own in folded]
    answers = [at for at, (place, _) in enumerate(names) if place != HINT]
    if answers:
        best = names[max(answers, key=lambda at: (votes[at], bool(NAME.match(names[at][1])), -at))]
        yield next((one for one in names if _is_one_of(best[1], one[1])), best)


def _is_one_of(name: str, text: str) -> bool:
    """Test for a text that is a list of names with "and", and has this one first."""
    return NAMES.fullmatch(text) is not None and _BETWEEN_NAMES.split(text)[0] == name != text


def _is_name(text: str) -> bool:
    is_short = len(text) <= 80 and len(text.split()) <= 9
    is_list = all(map(NAME.fullmatch, _BETWEEN_NAMES.split(text)))
    is_other = _NO_NAME.search(text) or _SENTENCE.search(text)
    return (is_short or is_list) and not is_other and any(character.isalpha() for character in text)


def plain(text: str) -> str:
    """Write a text in small letters and without signs, to compare it."""
    return _NOT_LETTERS.sub(" ", text.lower()).strip()


def squeezed(text: str) -> str:
    """Write a text in small letters, without signs and spaces, to compare it with an address."""
    return _NOT_LETTERS.sub("", text.lower())
