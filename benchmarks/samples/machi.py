"""A Japanese town magazine in Shift_JIS, which only the HTTP header declares."""

from benchmarks.samples.sample_languages import JAPANESE, TOWN_MAGAZINE
from benchmarks.samples.sample_site import Site


class Machi(Site):
    """A Japanese town magazine."""

    kind = "article"
    language = "ja"
    charset = "shift_jis"
    content_type = "text/html; charset=Shift_JIS"
    server = "Apache"
    register = TOWN_MAGAZINE
    authors = JAPANESE.names
    sections = ("暮らし", "祭り", "食", "港", "学校")
    front = "新着記事"
    titled = "{}の記事"
    design = "machi"

    def item_path(self, number: int) -> str:
        return f"/kiji/{self.day(number):%Y}/{number:05d}.html"

    def section_path(self, section: int, part: int) -> str:
        return f"/bunrui/{section + 1}/index{part or ''}.html"
