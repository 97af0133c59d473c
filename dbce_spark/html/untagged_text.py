"""Text without a tag, as servers send it under the name of HTML: a README, code, data. Its lines are read as lines."""

import re

_NAMES = (
    "a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body"
    " br button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em"
    " embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i"
    " iframe image img input ins isindex kbd keygen label layer legend li link listing main map mark marquee math menu"
    " meta meter multicol nav nobr noembed noframes noscript object ol optgroup option output p param picture plaintext"
    " pre progress q rb rp rt rtc ruby s samp script search section select slot small source spacer span strike strong"
    " style sub summary sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul var video"
    " wbr xmp"
)
"""Elements that HTML knows, those of its past too."""
_MARKUP = re.compile(rb"<(?:[!?/]|(?:%b)[\s/>])" % "|".join(_NAMES.split()).encode(), re.IGNORECASE)
"""A start tag of HTML, any end tag, and what comments, declarations and XML begin with. Mostly the first bytes."""

_LOST = re.compile(rb"[\r\n<]")
"""Of text without markup what is lost where it is read as HTML: lines, and what looks like tags."""


def as_code(html: bytes) -> bytes:
    """Make a <pre> of lines of text in UTF-8 without markup; other HTML, and a single line, is returned as it is.

    Tags that HTML does not know, without an end tag, are text too: `#include <stdio.h>`. References are read, as
    browsers read them.
    """
    if _MARKUP.search(html) or not _LOST.search(html.strip()):
        return html
    return b"<pre>%b</pre>" % html.replace(b"<", b"&lt;")
