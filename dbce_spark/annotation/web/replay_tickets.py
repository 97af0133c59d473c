"""Sign the addresses of archived pages: for one page and one workbench, and void after some hours."""

from dataclasses import dataclass

from itsdangerous import BadData, URLSafeTimedSerializer

_SALT = "archived page"


@dataclass(frozen=True, slots=True)
class Ticket:
    """Leave to see one page, in a frame of the workbench at this origin."""

    page: str
    workbench: str  # such as "http://127.0.0.1:8420"


def sign(ticket: Ticket, secret: str) -> str:
    """Sign a ticket as a part of a URL."""
    found = URLSafeTimedSerializer(secret, salt=_SALT).dumps([ticket.page, ticket.workbench])
    return found if isinstance(found, str) else found.decode()


def read(text: str, secret: str, hours: int) -> Ticket | None:
    """Return the ticket that a text holds; None if it is forged, or too old."""
    try:
        page, workbench = URLSafeTimedSerializer(secret, salt=_SALT).loads(text, max_age=hours * 3600)
    except (BadData, ValueError, TypeError):
        return None
    return Ticket(page, workbench)
