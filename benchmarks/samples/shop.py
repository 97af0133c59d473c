"""A lamp shop: description, table of specifications, price, reviews, and "also bought" lists that change. Bodies are sent
gzipped."""

from benchmarks.samples.sample_languages import ENGLISH, GOODS, REVIEWS
from benchmarks.samples.sample_site import Site


class Shop(Site):
    """An English shop; an item is a product."""

    kind = "product"
    language = "en"
    charset = "utf-8"
    content_type = "text/html;charset=utf-8"
    server = "cloudfront"
    gzipped = True
    register = GOODS
    reviews = REVIEWS
    authors = ENGLISH.names
    sections = ("Desk", "Wall", "Garden", "Travel")
    front = "New in the shop"
    titled = "{} lamps"
    design = "shop"

    def item_path(self, number: int) -> str:
        return f"/p/{number + 40000}"

    def section_path(self, section: int, part: int) -> str:
        return f"/c/{self.sections[section].lower()}?page={part + 1}"

    def specifications(self, number: int) -> list[tuple[str, str]]:
        """List names and values of a product, at least the first three."""
        dice = self.dice("specifications", number)
        rows = [
            ("Height", f"{dice.randrange(12, 190)} cm"),
            ("Weight", f"{dice.randrange(150, 9000)} g"),
            ("Power", f"{dice.randrange(2, 60)} W"),
            ("Light colour", f"{dice.randrange(22, 60)}00 K"),
            ("Material", dice.choice(("brass", "steel", "oak", "linen", "opal glass"))),
            ("Cable", f"{dice.randrange(10, 40) / 10} m"),
            ("Protection", f"IP{dice.randrange(20, 68)}"),
        ]
        return rows[: dice.randrange(3, len(rows) + 1)]
