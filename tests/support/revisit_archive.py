"""An archive of three files with revisits of every kind, a page in segments, copies, a resource and a conversion."""

import json
from itertools import accumulate
from pathlib import Path

from tests.support.builders import archive, gzipped, http, record
from tests.support.segments import segments

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
    """Declare a digest of a page, as Browsertrix writes it: not the one that is computed."""
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


def write_with_index(folder: Path) -> tuple[list[str], list[str]]:
    """A crawl of revisits of 2021, and the index of earlier ones that have their originals: (its file, the index).

    What becomes of its records:

    - one page
    - three revisits that are the first of their originals in the index, and so pages, and three that share them
    - one that shares the page of the crawl, which only the index says
    - passed over: an image and a redirect by what the index says (their file is gone), a feed by what its record is, a
      sheet by its URL
    - rejects: an original whose file is gone, one that is a revisit, one that is no page, and one that is nowhere: the
      index has just the revisit itself
    """
    old = {
        "/apple": record(page("apple"), url=f"{HOST}/apple", date="2018-01-01T00:00:00Z"),
        "/plum": record(page("plum"), url=f"{HOST}/plum", date="2018-01-01T00:00:00Z"),
        "/news": record(page("news", "1"), url=f"{HOST}/news", date="2018-01-01T00:00:00Z"),
        "/news?2": record(page("news", "2"), url=f"{HOST}/news", date="2019-01-01T00:00:00Z"),
        "/news?3": record(page("news", "3"), url=f"{HOST}/news", date="2022-01-01T00:00:00Z"),
        "/picture": record(http(b"\x89PNG\r\n\x1a\n", content_type="image/png"), url=f"{HOST}/picture"),
        "/moved": record(http("", "301 Moved"), url=f"{HOST}/moved"),
        "/feed": record(http("<rss><channel/></rss>"), url=f"{HOST}/feed"),
        "/again": revisit(f"{HOST}/again", "2018-01-01T00:00:00Z"),
        "/noise": record(http(b"\x89PNG\r\n\x1a\n"), url=f"{HOST}/noise"),
    }
    years = {"/news?2": "2019", "/news?3": "2022"}
    answers = {"/picture": ("image/png", 200), "/moved": ("text/html", 301)}
    lines = [
        _line(
            name.partition("?")[0],
            f"{years.get(name, '2018')}0101000000",
            place,
            "gone.warc.gz" if name in answers else "old.warc.gz",
            digest(f"{nth:x}"),
            *answers.get(name, ()),
        )
        for nth, (name, place) in enumerate(_members(folder / "old.warc.gz", old).items())
    ]
    lines.append(_line("/lost", "20180101000000", (100, 0), "gone.warc.gz", digest("f0")))
    later = "2021-01-02T00:00:00Z"
    new = {
        "/kept": record(page("kept"), url=f"{HOST}/kept", date="2021-01-01T00:00:00Z"),
        "/apple": revisit(
            f"{HOST}/apple",
            "2021-01-03T00:00:00Z",
            WARC_Refers_To_Target_URI=f"{HOST}/apple",
            WARC_Refers_To_Date="2018-01-01T00:00:00Z",
        ),
        "/apple?": revisit(f"{HOST}/apple", later, WARC_Payload_Digest=digest("0")),
        "/apples": revisit(f"{HOST}/apples", "2021-01-04T00:00:00Z", WARC_Payload_Digest=digest("0")),
        "/plums": revisit(f"{HOST}/plums", later, http("", "200 OK"), WARC_Payload_Digest=digest("1")),
        "/news": revisit(f"{HOST}/news", "2021-01-03T00:00:00Z", http("", "304 OK", None), NOT_MODIFIED),
        "/news?": revisit(f"{HOST}/news", later, profile=NOT_MODIFIED),
        "/kept?": revisit(f"{HOST}/kept", later, WARC_Payload_Digest=digest("ee")),
        "/picture": revisit(f"{HOST}/picture", later, WARC_Payload_Digest=digest("5")),
        "/moved": revisit(f"{HOST}/moved", later, WARC_Payload_Digest=digest("6")),
        "/feed": revisit(f"{HOST}/feed", later, WARC_Payload_Digest=digest("7")),
        "/a.CSS": revisit(f"{HOST}/a.CSS?v=1", later, profile=NOT_MODIFIED),
        "/lost": revisit(f"{HOST}/lost", later, profile=NOT_MODIFIED),
        "/again": revisit(f"{HOST}/again", later, WARC_Payload_Digest=digest("8")),
        "/noise": revisit(f"{HOST}/noise", later, WARC_Payload_Digest=digest("9")),
        "/nowhere": revisit(f"{HOST}/nowhere", later, WARC_Payload_Digest=digest("abc")),
    }
    path = folder / "new.warc.gz"
    places = _members(path, new)
    lines += [
        _line(name, "20190101000000", places[name], path.name, digest(payload))
        for name, payload in (("/kept", "ee"), ("/nowhere", "abc"))
    ]
    (folder / "old.cdxj").write_text("".join(f"{one}\n" for one in lines))
    return [str(path)], [str(folder / "old.cdxj")]


def _members(path: Path, records: dict[str, bytes]) -> dict[str, tuple[int, int]]:
    """Writes a file of records; (bytes, offset) of each."""
    members = gzipped(*records.values())
    archive(path, *members)
    ends = list(accumulate(map(len, members), initial=0))
    return {name: (len(member), at) for name, member, at in zip(records, members, ends, strict=False)}


def _line(
    path: str,
    date: str,
    place: tuple[int, int],
    filename: str,
    payload: str,
    mime: str = "text/html",
    status: int = 200,
) -> str:
    """Write the line of an index for a record; for a revisit, as many do, with the fields of its HTTP head."""
    fields = {"url": f"{HOST}{path}", "mime": mime, "status": str(status), "digest": payload, "filename": filename}
    written = json.dumps(fields | {"length": str(place[0]), "offset": str(place[1])})
    return f"org,example){path} {date} {written}"
