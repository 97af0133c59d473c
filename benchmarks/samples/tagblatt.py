"""A German town paper of about the year 2002: nested layout tables, <font>, <center>, text broken by <br>, ISO-8859-1."""

from dataclasses import dataclass

from benchmarks.samples.prose import length
from benchmarks.samples.sample_languages import GERMAN, TOWN_PAPER
from benchmarks.samples.sample_site import Item, Moment, Site
from benchmarks.samples.style_sheet import Sheet, Span, link, part


@dataclass(frozen=True, eq=False)
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
    stylesheet = "tagblatt.css"

    def item_path(self, number: int) -> str:
        return f"/artikel.php?id={number + 1000}&rubrik={self.sections[number % len(self.sections)].lower()}"

    def section_path(self, section: int, part: int) -> str:
        return f"/rubrik.php?name={self.sections[section].lower()}&seite={part + 1}"

    def write_item(self, sheet: Sheet, number: int, moment: Moment) -> None:
        item = self.item(number)
        self._text(sheet, item, moment)
        self._below(sheet, item, moment)

    def write_list(self, sheet: Sheet, number: int, title: str, moment: Moment) -> None:
        sheet.markup('<table width="100%" cellpadding="3">\n')
        sheet.markup("<tr>")
        sheet.main('td colspan="2" class="titel"', title)
        sheet.markup("</tr>\n")
        for item in self.listed(number, moment.crawl):
            sheet.markup("<tr>")
            sheet.main('td width="60" class="klein"', f"{item.day:%d.%m.%y}")
            sheet.markup("<td>")
            sheet.main(
                "div",
                Span(f'<a href="{self.item_path(item.number)}"><b>'.replace("&", "&amp;"), item.title, "</b></a>"),
            )
            sheet.main("div", self.register.sentence(self.dice("teaser", item.number)))
            sheet.markup("</td></tr>\n")
        sheet.markup("</table>\n")

    def _text(self, sheet: Sheet, item: Item, moment: Moment) -> None:
        dice = self.dice("article", item.number)
        sheet.markup('<table width="100%" cellpadding="4" cellspacing="0">\n<tr>')
        sheet.chrome('td class="klein"', "Sie sind hier: ", link("/", "Startseite"), f" > {item.section}")
        sheet.markup("</tr>\n<tr><td>\n")
        sheet.main('div class="spitz"', f"{item.section} / {item.day:%d.%m.%Y}")
        sheet.main('div class="titel"', item.title)
        sheet.main('div class="klein"', f"Von {item.author}")
        if dice.random() < 0.5:
            sheet.markup(
                '<table align="right" width="170" class="kasten"><tr><td height="110" bgcolor="#99aabb">&nbsp;</td></tr><tr>'
            )
            sheet.main('td class="klein"', f"{self.register.sentence(dice)} Foto: {dice.choice(GERMAN.names)}")
            sheet.markup("</tr></table>\n")
        sheet.markup('<font face="Arial" size="2">\n')
        for place, paragraph in enumerate(self.story(item.number, length(dice, 2, 20), moment.edits)):
            sheet.markup("<br><br>\n" if place else "")
            sheet.main("", paragraph)
        sheet.markup("</font>\n")
        if dice.random() < 0.25:
            self._figures(sheet, item)
        sheet.markup("</td></tr>\n</table>\n")

    def _figures(self, sheet: Sheet, item: Item) -> None:
        """Write a table that is content, inside the tables that are layout."""
        dice = self.dice("figures", item.number)
        sheet.markup('<table border="1" cellpadding="3">\n<tr>')
        for heading in ("Ort", "Vorjahr", "Heute"):
            sheet.main("th", heading)
        sheet.markup("</tr>\n")
        for _ in range(dice.randrange(3, 8)):
            sheet.markup("<tr>")
            sheet.main("td", dice.choice(("Niederfelde", "Groß Börnsen", "Lütjenhorst", "Ahrenswalde", "Oststadt")))
            sheet.main("td", str(dice.randrange(10, 900)))
            sheet.main("td", str(dice.randrange(10, 900)))
            sheet.markup("</tr>\n")
        sheet.markup("</table>\n")

    def _below(self, sheet: Sheet, item: Item, moment: Moment) -> None:
        sheet.markup('<hr noshade size="1">\n<table width="100%"><tr>')
        for text in ("Artikel drucken", "Artikel versenden", "Leserbrief schreiben"):
            sheet.chrome('td align="center" class="klein"', link("/dienst.php", text))
        sheet.markup("</tr></table>\n")
        sheet.chrome('div class="leiste"', Span("<b>", "Mehr zum Thema", "</b>"))
        for other in self.some(self.dice("related", item.number, moment.crawl), 3, moment.crawl):
            sheet.chrome("div", "» ", link(self.item_path(other.number), other.title))

    def open(self, sheet: Sheet, title: str, moment: Moment) -> None:
        sheet.markup(
            '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">\n<html>\n<head>\n'
            '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">\n'
            f'<title>{self.name} - {title}</title>\n<style>\n{self.css}</style>\n<script language="JavaScript">\n<!--\n'
            'function fenster(u){window.open(u,"f","width=400,height=300");}\n//-->\n</script>\n</head>\n'
        )
        sheet.add(_top(self))

    def close(self, sheet: Sheet, moment: Moment) -> None:
        sheet.markup("</td>\n")
        sheet.add(_side(self, moment.crawl))
        sheet.markup("</body>\n</html>\n")


@part
def _top(sheet: Sheet, site: Tagblatt) -> None:
    sheet.markup(
        '<body topmargin="0" link="#003366">\n<center>\n<table width="780" bgcolor="#ffffff" cellspacing="0" cellpadding="6">\n<tr>'
    )
    sheet.chrome('td colspan="3" class="kopf"', site.name)
    sheet.markup('</tr>\n<tr><td colspan="3" class="leiste"><table width="100%"><tr>')
    for text in ("Startseite", "Archiv", "Anzeigenmarkt", "Abo-Service", "Wetter", "Impressum"):
        sheet.chrome('td align="center"', link(f"/{text.lower()}.php", text))
    sheet.markup('</tr></table></td></tr>\n<tr>\n<td width="130" class="leiste">\n')
    sheet.chrome("div", Span("<b>", "Rubriken", "</b>"))
    for section in site.sections:
        sheet.chrome("div", link(f"/rubrik.php?name={section.lower()}&seite=1", section))
    sheet.markup(
        '<form action="/suche.php"><input type="hidden" name="modus" value="voll"><input name="wort" size="10">'
        '<input type="submit" value="Suche"></form>\n<form action="/login.php" method="post">\n'
    )
    sheet.chrome('div class="klein"', "Anmeldung für Abonnenten")
    sheet.markup(
        '<input type="hidden" name="sid" value="7f3a9c"><input name="name" size="10"><input type="password" name="kennwort" size="10">'
        '</form>\n</td>\n<td width="490">\n<!-- Inhalt -->\n'
    )


@part
def _side(sheet: Sheet, site: Tagblatt, crawl: int) -> None:
    dice = site.dice("side", crawl)
    sheet.markup('<td width="160">\n<table class="kasten" width="100%"><tr>')
    sheet.chrome("td", Span('<font color="#cc0000"><b>', "Meistgelesen", "</b></font>"))
    sheet.markup("</tr>\n")
    for place, item in enumerate(site.some(dice, 5, crawl), 1):
        sheet.markup("<tr>")
        sheet.chrome('td class="klein"', f"{place}. ", link(site.item_path(item.number), item.title))
        sheet.markup("</tr>\n")
    sheet.markup('</table>\n<br>\n<table class="kasten" width="100%"><tr>')
    sheet.chrome('td class="klein"', "Anzeige")
    sheet.markup("</tr><tr>")
    goods = ("Gartenmöbel", "Winterreifen", "Kaminholz", "Gebrauchtwagen", "Teppiche", "Brillen", "Fahrräder")
    sheet.chrome('td align="center"', Span("<b>", f"{dice.choice(goods)} ab {dice.randrange(9, 99)},- DM", "</b>"))
    sheet.markup("</tr></table>\n<br>\n")
    sheet.chrome(
        'div class="leiste"',
        f"Wetter: heute {dice.randrange(1, 28)} Grad, {dice.choice(('Regen', 'heiter', 'bedeckt'))}",
    )
    sheet.markup("</td>\n</tr>\n<tr>")
    sheet.chrome(
        'td colspan="3" align="center" class="klein"',
        f"© {site.year(crawl)} Verlag {site.name}, alle Rechte vorbehalten",
    )
    sheet.markup("</tr>\n</table>\n</center>\n")
