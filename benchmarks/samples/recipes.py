"""A recipe site whose pages change between two visits: adverts between the steps, counters, comments, suggestions."""

from benchmarks.samples.sample_languages import COOKING, ENGLISH, STEPS
from benchmarks.samples.sample_site import Site


class Recipes(Site):
    """An English recipe site."""

    kind = "recipe"
    language = "en"
    charset = "utf-8"
    content_type = "text/html"
    server = "nginx"
    chunked = True
    register = COOKING
    steps = STEPS
    authors = ENGLISH.names
    words = ENGLISH.words
    sections = ("Soups", "Baking", "Vegetables", "Sweets", "Quick")
    front = "What shall we cook today?"
    design = "recipes"

    def item_path(self, number: int) -> str:
        title = self.item(number).title.lower().replace(",", "").replace(" ", "-")
        return f"/recipes/{number + 200}/{title}"

    def section_path(self, section: int, part: int) -> str:
        return f"/{self.sections[section].lower()}/s{part}/"
