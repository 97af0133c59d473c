"""An archive of three files with revisits of every kind, a page in segments, copies, a resource and a conversion."""

from pathlib import Path

from tests.builders import archive, gzipped, http, record
from tests.test_segments import segments

HOST = "http://www.example.org"
MENU = "<ul><li><a href=/>Home page</a></li><li><a href=/news>All the news</a></li></ul>"
NOT_MODIFIED = "http://netpreserve.org/warc/1.0/revisit/server-not-modified"
IDENTICAL = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"


def page(name: str, version: str = "") -> bytes:
    """A page of the site."""
    words = " ".join(f"{name}{nth}" for nth in range(40))
    return http(
        f"<html><head><title>{name}</title></head><body><div>{MENU}</div>"
        f"<article><h1>About {name}{version}</h1><section><p>{words}</p></section></article>"
        f"<footer><table><tr><td><b>All rights reserved</b></td></tr></table></footer></body></html>"
    )


def revisit(url: str, date: str, block: bytes = b"", profile: str = IDENTICAL, **headers: str) -> bytes:
    """A revisit record; `headers` say what it refers to."""
    fields = {"WARC_Profile": profile, "WARC_Record_ID": f"<urn:uuid:{url}{date}>"} | headers
    return record(block, url=url, date=date, kind="revisit", **fields)


def digest(name: str) -> str:
    """What a record declares as the digest of a page, in the words of Browsertrix: not the one that is computed."""
    return f"sha-256:{name:0>64}"


def write(folder: Path) -> list[str]:
    """The three files. Their records, by what becomes of them:

    - six pages, one of them in segments, one a resource, one at two times
    - eight revisits with an original, one of them under another URL, one in a file before its original's
    - one that is there twice, one that is the same as a capture, one whose original is nowhere, one not modified since
      a time before all captures, one whose original is an image
    """
    first = [
        record(b"software: test\r\n", kind="warcinfo", url=None),
        revisit(f"{HOST}/late", "2020-01-05T00:00:00Z", WARC_Payload_Digest=digest("b0")),
        record(page("apple"), url=f"{HOST}/apple", date="2020-01-01T00:00:00Z", WARC_Record_ID="<urn:uuid:apple>"),
        record(page("plum"), url=f"{HOST}/plum", WARC_Payload_Digest=digest("a1"), date="2020-01-01T00:00:00Z"),
        *segments(page("pear"), 3, url=f"{HOST}/pear"),
        revisit(f"{HOST}/apple", "2020-01-02T00:00:00Z", WARC_Refers_To="<urn:uuid:apple>"),
    ]
    second = [
        record(page("apple", "2"), url=f"{HOST}/apple", date="2020-02-01T00:00:00Z"),
        revisit(
            f"{HOST}/apple",
            "2020-02-02T00:00:00Z",
            http("", "304 Not Modified", content_type=None),
            NOT_MODIFIED,
        ),
        revisit(f"{HOST}/apple", "2020-01-31T00:00:00Z", profile=NOT_MODIFIED),
        revisit(f"{HOST}/apple", "2019-01-31T00:00:00Z", profile=NOT_MODIFIED),
        revisit(f"{HOST}/plum", "2020-02-02T00:00:00Z", http("", "200 OK"), WARC_Payload_Digest=digest("a1")),
        revisit(f"{HOST}/plum/", "2020-02-03T00:00:00Z", WARC_Payload_Digest=digest("a1")),
        revisit(f"{HOST}/plum/again", "2020-02-04T00:00:00Z", WARC_Payload_Digest=digest("a1")),
        record(page("late"), url=f"{HOST}/late", date="2020-02-01T00:00:00Z", WARC_Payload_Digest=digest("b0")),
        record(page("made"), url=f"{HOST}/made", kind="resource", Content_Type="text/html"),
    ]
    third = [
        revisit(
            f"{HOST}/pear",
            "2020-03-01T00:00:00Z",
            WARC_Refers_To_Target_URI=f"{HOST}/pear",
            WARC_Refers_To_Date="2020-01-02T03:04:05Z",
        ),
        revisit(f"{HOST}/plum", "2020-02-02T00:00:00Z", WARC_Payload_Digest=digest("a1")),
        revisit(f"{HOST}/plum", "2020-01-01T00:00:00Z", WARC_Payload_Digest=digest("a1")),
        revisit(f"{HOST}/gone", "2020-03-01T00:00:00Z", WARC_Payload_Digest=digest("c0")),
        revisit(
            f"{HOST}/a.png",
            "2020-03-01T00:00:00Z",
            http("", content_type="image/png"),
            WARC_Payload_Digest=digest("d0"),
        ),
        record(page("apple"), url=f"{HOST}/apple", date="2020-01-01T00:00:00Z"),
        record(b"All the news", url=f"{HOST}/plum", kind="conversion", Content_Type="text/plain"),
        segments(page("torn"), 2, "<urn:uuid:torn>", f"{HOST}/torn")[0],
    ]
    return [
        archive(folder / f"{name}.warc.gz", *gzipped(*made))
        for name, made in zip("abc", (first, second, third), strict=True)
    ]
