"""Extractors of other people that see one page at a time, each imported where it runs and nowhere else."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from dbce_spark.errors import PlatformError
from dbce_spark.evaluation.child import Extract, Load

_JUSTEXT_LANGUAGES = dict(
    pair.split(":")
    for pair in (
        "bg:Bulgarian cs:Czech da:Danish de:German el:Greek en:English es:Spanish et:Estonian fi:Finnish fr:French"
        " hr:Croatian hu:Hungarian it:Italian lt:Lithuanian lv:Latvian nl:Dutch pl:Polish pt:Portuguese ro:Romanian"
        " ru:Russian sk:Slovak sl:Slovenian sv:Swedish"
    ).split()
)


@dataclass(frozen=True, slots=True)
class Peer:
    """An extractor: the package it needs, and how to load it."""

    package: str
    load: Load

    def check(self) -> None:
        """Refuses where the package is missing.

        Raises:
            PlatformError: says what to install.
        """
        if find_spec(self.package) is None:
            raise PlatformError(f"{self.package} is not installed; run: pip install 'dbce-spark[evaluate]'")


def _trafilatura(**options: bool) -> Extract:
    library = import_module("trafilatura")
    return lambda html, lang: library.extract(html, include_comments=False, **options)


def _resiliparse() -> Extract:
    """Like trafilatura, without the readers' comments; and without what pictures say of themselves."""
    library = import_module("resiliparse.extract.html2text")
    return lambda html, lang: library.extract_plain_text(html, main_content=True, comments=False, alt_texts=False)


def _readability() -> Extract:
    library, plain = import_module("readability"), _lxml()
    return lambda html, lang: plain(library.Document(html).summary(), lang)


def _justext() -> Extract:
    library = import_module("justext")

    def extract(html: str, lang: str) -> str:
        language = _JUSTEXT_LANGUAGES.get(lang[:2])
        if language:
            paragraphs = library.justext(html, library.get_stoplist(language))
        else:  # as its documentation says of languages without a list
            paragraphs = library.justext(html, frozenset(), stopwords_low=0, stopwords_high=0)
        return "\n".join(paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate)

    return extract


def _boilerpy3() -> Extract:
    extractor = import_module("boilerpy3.extractors").ArticleExtractor(raise_on_failure=False)
    return lambda html, lang: extractor.get_content(html)


def _attribute(module: str, name: str) -> Extract:
    """A library that is one function from HTML to text."""
    function: Callable[[str], str] = getattr(import_module(module), name)
    return lambda html, lang: function(html)


def _html2text() -> Extract:
    library = import_module("html2text")

    def extract(html: str, lang: str) -> str:
        parser = library.HTML2Text(bodywidth=0)
        parser.ignore_links = parser.ignore_images = parser.ignore_emphasis = True
        text: str = parser.handle(html)
        return text

    return extract


def _beautifulsoup() -> Extract:
    library = import_module("bs4")
    return lambda html, lang: str(library.BeautifulSoup(html, "lxml").get_text("\n"))


def _lxml() -> Extract:
    """All text nodes outside scripts and styles."""
    etree: Any = import_module("lxml.etree")
    texts = etree.XPath("//text()[not(ancestor::script or ancestor::style or ancestor::head)]")

    def extract(html: str, lang: str) -> str:
        root = etree.fromstring(html.encode("utf-8", "replace"), etree.HTMLParser(encoding="utf-8", huge_tree=True))
        return "" if root is None else "\n".join(texts(root))

    return extract


PEERS: Mapping[str, Peer] = {
    "trafilatura": Peer("trafilatura", _trafilatura),
    "trafilatura-precision": Peer("trafilatura", partial(_trafilatura, favor_precision=True)),
    "trafilatura-recall": Peer("trafilatura", partial(_trafilatura, favor_recall=True)),
    "readability": Peer("readability", _readability),
    "resiliparse": Peer("resiliparse", _resiliparse),
    "justext": Peer("justext", _justext),
    "boilerpy3": Peer("boilerpy3", _boilerpy3),
    "inscriptis": Peer("inscriptis", partial(_attribute, "inscriptis", "get_text")),
    "html2text": Peer("html2text", _html2text),
    "html-text": Peer("html_text", partial(_attribute, "html_text", "extract_text")),
    "beautifulsoup": Peer("bs4", _beautifulsoup),
    "lxml": Peer("lxml", _lxml),
}
"""By the name that `--extractors` takes. From "inscriptis" on they give all text, the floor of every comparison."""
