"""A German town paper of about the year 2002: nested layout tables, <font>, <center>, text broken by <br>, ISO-8859-1."""

from benchmarks.samples.sample_languages import GERMAN, TOWN_PAPER
from benchmarks.samples.sample_site import Site


class Tagblatt(Site):
    """A German daily of the 2000s."""

    kind = "article"
    language = "de"
    charset = "iso-8859-1"
    content_type = "text/html"
    server = "Apache/1.3.27 (Unix) PHP/4.3.1"
    register = TOWN_PAPER
    authors = GERMAN.names
    sections = ("Lokales", "Politik", "Sport", "Kultur", "Vereine")
    front = "Aktuelles"
    design = "tagblatt"

    def item_path(self, number: int) -> str:
        return f"/artikel.php?id={number + 1000}&rubrik={self.sections[number % len(self.sections)].lower()}"

    def section_path(self, section: int, part: int) -> str:
        return f"/rubrik.php?name={self.sections[section].lower()}&seite={part + 1}"
