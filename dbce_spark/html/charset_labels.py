"""Labels of charsets: the WHATWG Encoding Standard's, and those of charsets that it leaves out."""

import re

import webencodings

from dbce_spark.html.decoders import OLDER

# Two that the standard gives up for what scripts could do with them; none runs here.
_REVIVED = {
    "hz-gb-2312": "hz-gb-2312",
    "hz": "hz-gb-2312",
    "iso-2022-kr": "iso-2022-kr",
    "csiso2022kr": "iso-2022-kr",
}
_NUMBERED = re.compile(r"(?:cp|ibm|dos|ms|windows)[-_]?0{0,2}([1-9]\d{2,3})")
"""A code page by its number, as IBM, Microsoft, Java and Python write it: `ibm850`, `IBM00858`, `DOS-862`, `ms949`."""
_OF_PAGES = {"932": "shift_jis", "936": "gbk", "949": "euc-kr", "950": "big5", "1361": "johab"}
_OF_PAGES |= {name.removeprefix("ibm"): name for name in OLDER if name.startswith("ibm")}
_LONGEST = 64


def charset_of(label: str) -> str:
    """Look up the charset of a label in the standard's table (4.2), then among those beside it; "" if it has none."""
    label = label.strip().strip("\"'").lower()
    if not label or len(label) > _LONGEST:
        return ""
    if label in _REVIVED:
        return _REVIVED[label]
    encoding = webencodings.lookup(label)
    if encoding is not None:
        return "" if encoding.name == "replacement" else str(encoding.name)
    if numbered := _NUMBERED.fullmatch(label):
        return _OF_PAGES.get(numbered[1], "")
    return label if label in OLDER else ""
