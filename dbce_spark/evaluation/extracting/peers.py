"""Extractors of other people that see one page at a time, each imported where it runs and nowhere else.

Of the fifteen in the study of extractors these stand here by another name: boilerpipe is boilerpy3, its port to Python;
Body Text Extraction is bte, of our own; Readability, which the study has in Go, is readability-js, the original. What
could not be used in November 2026, of those and of others that are often compared:

extractor          tried                    why not
go-domdistiller    -                        Go only; in no package index for Python or Node
web2text           -                        Scala, with weights for an old TensorFlow; in no package index
boilerpipe         boilerpipe3 1.3          its setup loads the Java archive from a host of its own
dragnet            2.0.4                    needs scikit-learn 0.20, which does not build on Python 3.11
extractnet         2.0.7                    its lcs.pyx does not compile with today's Cython
rs-trafilatura     0.1.1                    source only, built from crates that pip does not bring; trafipy is the same
article-extractor  0.2.0                    fails on every page: unexpected keyword argument 'safe', of justhtml 3.16
htmlsift           0.1.1                    loads the weights of a model when it runs
eatiht, jparser    0.1.14, 0.0.20           import urllib2 and urlparse of Python 2
libextract         0.0.12                   runs, but takes scripts for text: bag-of-words F1 0.07 on dragnet pages
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from dbce_spark.errors import PlatformError, installs
from dbce_spark.evaluation import node
from dbce_spark.evaluation.extracting import bte
from dbce_spark.evaluation.extracting.child_process import Extract, Load

_NOWHERE = "http://page.invalid/"
"""For those that want to know where a page is from: nowhere, so that no rule for a site applies."""

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
    """An extractor: how to load it, and what this machine lacks to run it ("" if nothing)."""

    package: str  # the module it is; "" where it is not Python
    extra: str  # of setup.cfg, which brings it; "" where it comes with the core, or from elsewhere
    load: Load
    lacking: Callable[[], str]

    def check(self) -> None:
        """Refuse to run where something is missing.

        Raises:
            PlatformError: something is missing; the message names what to install.
        """
        if lacking := self.lacking():
            raise PlatformError(lacking)


def _lacking(package: str, extra: str, python: tuple[int, int]) -> str:
    if sys.version_info < python:
        return f"{package} needs Python {python[0]}.{python[1]} or newer"
    return "" if find_spec(package) else f"{package} is not installed; run: {installs(extra)}"


def _peer(package: str, load: Load, extra: str = "", python: tuple[int, int] = (3, 11)) -> Peer:
    """Describe an extractor in Python, from that version on."""
    return Peer(package, extra, load, partial(_lacking, package, extra, python))


def _in_node(method: str) -> Peer:
    return Peer("", "", partial(node.NodePage, method), node.lacking)


def _trafilatura(**options: bool) -> Extract:
    library = import_module("trafilatura")
    return lambda html, lang: library.extract(html, include_comments=False, **options)


def _trafilaturacore() -> Extract:
    """Extract as trafilatura does, without readers' comments and pictures. Where it finds nothing it gives all text."""
    library, plain = import_module("trafilaturacore"), _lxml()
    return lambda html, lang: plain(
        library.clean(html, comment_handling="exclude", image_handling="exclude").html, lang
    )


def _turbohtml() -> Extract:
    library = import_module("turbohtml")
    return lambda html, lang: str(library.parse(html).main_text())


def _resiliparse() -> Extract:
    """Extract as trafilatura does, without readers' comments, and without the alternative texts of pictures."""
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
        else:  # as its documentation has it for languages without a list
            paragraphs = library.justext(html, frozenset(), stopwords_low=0, stopwords_high=0)
        return "\n".join(paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate)

    return extract


def _boilerpy3() -> Extract:
    extractor = import_module("boilerpy3.extractors").ArticleExtractor(raise_on_failure=False)
    return lambda html, lang: extractor.get_content(html)


def _attribute(module: str, name: str) -> Extract:
    """Load a library that is one function from HTML to text."""
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


def _goose3() -> Extract:
    library, words = import_module("goose3"), import_module("goose3.text")
    supported = {path.name.split("-")[1][:2] for path in (files("goose3") / "resources" / "text").iterdir()}
    of_language = {"ar": words.StopWordsArabic, "ko": words.StopWordsKorean, "zh": words.StopWordsChinese}

    def extract(html: str, lang: str) -> str:
        settings: dict[str, object] = {"enable_image_fetching": False}
        if (language := lang[:2]) in supported:
            settings |= {"use_meta_language": False, "target_language": language}
            settings["stopwords_class"] = of_language.get(language, words.StopWords)
        text: str = library.Goose(settings).extract(raw_html=html).cleaned_text
        return text

    return extract


def _newspaper4k() -> Extract:
    library, languages = import_module("newspaper"), import_module("newspaper.languages")
    supported = frozenset(languages.get_available_languages())

    def extract(html: str, lang: str) -> str:
        language = lang[:2] if lang[:2] in supported else None  # None: as the page says, or English
        article = library.Article(_NOWHERE, language=language, fetch_images=False)
        article.download(input_html=html)
        article.parse()
        text: str = article.text
        return text

    return extract


def _news_please() -> Extract:
    library = import_module("newsplease").NewsPlease
    return lambda html, lang: library.from_html(html, url=None, fetch_images=False).maintext


def _gne() -> Extract:
    extractor = import_module("gne").GeneralNewsExtractor()
    return lambda html, lang: str(extractor.extract(html)["content"])


def _magic_html() -> Extract:
    extractor, plain = import_module("magic_html").GeneralExtractor(), _lxml()
    return lambda html, lang: plain(extractor.extract(html, base_url=_NOWHERE)["html"] or "", lang)


def _trafipy() -> Extract:
    library = import_module("trafipy")
    return lambda html, lang: str(library.extract(html).text)


def _readabilipy() -> Extract:
    """Extract by its own part, without Readability in Node: all paragraphs of a cleaned page."""
    library = import_module("readabilipy")

    def extract(html: str, lang: str) -> str:
        paragraphs = library.simple_json_from_html_string(html, use_readability=False)["plain_text"]
        return "\n".join(paragraph["text"] for paragraph in paragraphs or ())

    return extract


def _tree(html: str) -> Any:
    """Parse a page by libxml2; None if it makes nothing of it."""
    library: Any = import_module("lxml.html")
    parser = library.HTMLParser(encoding="utf-8", huge_tree=True)
    return import_module("lxml.etree").fromstring(html.encode("utf-8", "replace"), parser)


def _lxml(path: str = "//text()[not(ancestor::script or ancestor::style or ancestor::head)]") -> Extract:
    """Join the text nodes of a path, by default all outside scripts and styles."""
    texts: Any = import_module("lxml.etree").XPath(path)

    def extract(html: str, lang: str) -> str:
        root = _tree(html)
        return "" if root is None else "\n".join(texts(root))

    return extract


def _lxml_cleaner() -> Extract:
    """Join the texts left by a cleaner that removes what trafilatura removes first, as in the study of extractors."""
    cleaner = import_module("lxml_html_clean").Cleaner(
        kill_tags=import_module("trafilatura.settings").MANUALLY_CLEANED,
        annoying_tags=False,
        meta=False,
        page_structure=False,
        safe_attrs_only=False,
        remove_unknown_tags=False,
    )

    def extract(html: str, lang: str) -> str:
        root = _tree(html)
        if root is None:
            return ""
        cleaner(root)
        return "\n".join(root.itertext())

    return extract


PEERS: Mapping[str, Peer] = {
    "trafilatura": _peer("trafilatura", _trafilatura, "trafilatura"),
    "trafilatura-precision": _peer("trafilatura", partial(_trafilatura, favor_precision=True), "trafilatura"),
    "trafilatura-recall": _peer("trafilatura", partial(_trafilatura, favor_recall=True), "trafilatura"),
    "trafilaturacore": _peer("trafilaturacore", _trafilaturacore, "trafilaturacore"),
    "trafipy": _peer("trafipy", _trafipy, "trafipy", (3, 12)),
    "magic-html": _peer("magic_html", _magic_html, "magic-html", (3, 12)),
    "readability": _peer("readability", _readability, "readability"),
    "readability-js": _in_node("readability"),
    "defuddle": _in_node("defuddle"),
    "resiliparse": _peer("resiliparse", _resiliparse, "resiliparse"),
    "turbohtml": _peer("turbohtml", _turbohtml),
    "justext": _peer("justext", _justext, "justext"),
    "boilerpy3": _peer("boilerpy3", _boilerpy3, "boilerpy3"),
    "goose3": _peer("goose3", _goose3, "goose3"),
    "newspaper4k": _peer("newspaper", _newspaper4k, "newspaper4k"),
    "news-please": _peer("newsplease", _news_please, "news-please"),
    "gne": _peer("gne", _gne, "gne"),
    "bte": _peer("numpy", bte.load),
    "lxml-cleaner": _peer("lxml_html_clean", _lxml_cleaner, "lxml-cleaner"),
    "readabilipy": _peer("readabilipy", _readabilipy, "readabilipy"),
    "inscriptis": _peer("inscriptis", partial(_attribute, "inscriptis", "get_text"), "inscriptis"),
    "html2text": _peer("html2text", _html2text, "html2text"),
    "html-text": _peer("html_text", partial(_attribute, "html_text", "extract_text"), "html-text"),
    "beautifulsoup": _peer("bs4", _beautifulsoup, "beautifulsoup"),
    "lxml": _peer("lxml", _lxml),
    "xpath-text": _peer("lxml", partial(_lxml, "//body//text()")),
}
"""The peers, by the name that `--extractors` takes. From "lxml-cleaner" on they give all text, or nearly, the floor of
every comparison; "xpath-text" that of scripts too, as in the study."""
