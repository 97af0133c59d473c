"""Pages of a German news site: an article between a menu and a foot that all have."""

MENU = "<ul><li><a href=/1>Politik</a><li><a href=/2>Sport</a><li><a href=/3>Kultur und Medien</a></ul>"
FOOT = "<footer><p>Alle Rechte vorbehalten, auch die der Übersetzung und der Wiedergabe im Netz.</p></footer>"
SITE = "http://news.example.org/"


def page(number: int) -> str:
    """A page of a site: its own text between a menu and a foot that all have."""
    own = " ".join(
        f"Satz {number * 100 + nth} erzählt von Haus {number * nth} und Baum {nth + number}." for nth in range(30)
    )
    return f"<title>Seite {number}</title><body>{MENU}<article><h1>Seite {number}</h1><p>{own}</p></article>{FOOT}"
