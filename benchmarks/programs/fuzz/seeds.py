"""Small inputs that a fuzzer begins with: the proper input of each target, whole, damaged, and in every coding."""

import bz2
import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator

import brotli
import lz4.frame
import zstandard

from tests.support.builders import arc_header, arc_record, gzipped, http, record

_PAGE = (
    "<!DOCTYPE html><html lang=de><head><meta charset=utf-8><title>Titel</title><meta property='og:title' content=T>"
    '<script type=\'application/ld+json\'>{"@context": "https://schema.org", "datePublished": "2010-03-04"}</script>'
    "<link rel=canonical href=/a></head><body><nav><ul><li><a href='#x' rel=ugc>eins</a><li>zwei</ul></nav><div class=a"
    " id=b><h1>Größe</h1><p>Ein Absatz mit <b>Wör</b>tern<br><br>und <a href=/b>Verweis</a>.<pre> x\n y</pre><table>"
    "<tr><td>1<td>2</table><form><input><select><option>o</select><textarea>t</textarea></form></div><o:p>本</o:p>"
)

_CODECS = (
    "utf-8", "utf-16", "utf-16-le", "utf-32", "cp1252", "cp1251", "koi8-r", "euc-jp", "cp932", "iso2022_jp",
    "iso2022_kr", "hz", "gb18030", "big5", "cp949", "tis-620",
)  # fmt: skip


def records() -> Iterator[bytes]:
    responses = [record(http(f"<p>{nth}</p>"), url=f"http://a.example/{nth}") for nth in range(3)]
    arcs = [arc_header(), *(arc_record(url=f"http://a.example/{nth}") for nth in range(2))]
    for parts in (responses, arcs):
        yield b"".join(parts)
        yield b"".join(gzipped(*parts))
        yield gzip.compress(b"".join(parts), mtime=0)
        yield zstandard.ZstdCompressor(write_checksum=True).compress(b"".join(parts))
        yield b"".join(map(lz4.frame.compress, parts))
        yield bz2.compress(b"".join(parts))
        yield b"".join(gzipped(*parts)).replace(b"\x1f\x8b\x08", b"\x1f\x8b\x07", 1)
        yield b"".join(gzipped(*parts))[:-20]
    yield from _odd_records()
    for how in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        yield _zipped({"archive/a.warc.gz": b"".join(gzipped(*responses)), "b.txt": b"text"}, how)
    yield _zipped({"a.wacz": _zipped({"b.warc": b"".join(responses)}, zipfile.ZIP_STORED)}, zipfile.ZIP_STORED)


def _odd_records() -> Iterator[bytes]:
    yield record(kind="revisit", WARC_Refers_To_Date="2019-01-01T00:00:00Z", WARC_Profile="x/identical-payload-digest")
    yield record(b"<p>a", kind="resource", Content_Type="text/html") + record(b"text", kind="conversion")
    yield record(WARC_Segment_Number="1") + record(
        b"rest", kind="continuation", WARC_Segment_Number="2", WARC_Segment_Origin_ID="<urn:uuid:0>",
        WARC_Segment_Total_Length="99",
    )  # fmt: skip
    yield record().replace(b"Content-Length: ", b"Content-Length: 9") + record()
    yield record(date="null") + record(url=None) + record(kind="warcinfo") + record(kind="metadata")
    frame = gzip.compress(record(), mtime=0)
    yield b"\x5d\x2a\x4d\x18" + len(frame).to_bytes(4, "little") + frame + b"\r\n\0\0" + frame


def _zipped(files: dict[str, bytes], how: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", how) as target:
        for name, content in files.items():
            target.writestr(zipfile.ZipInfo(name), content, how)
    return made.getvalue()


def body() -> Iterator[bytes]:
    page = _PAGE.encode()
    raw = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    coded = {
        "gzip": gzip.compress(page, mtime=0),
        "deflate": zlib.compress(page),
        "x-deflate": raw.compress(page) + raw.flush(),
        "br": brotli.compress(page),
        "zstd": zstandard.ZstdCompressor(write_checksum=True).compress(page),
        "gzip, gzip": gzip.compress(gzip.compress(page, mtime=0), mtime=0),
    }
    for coding, content in coded.items():
        yield http(content, headers={"Content-Encoding": coding.removeprefix("x-")})
        yield http(content)
        yield http(content[: len(content) // 2], headers={"Content-Encoding": coding})
        yield b"\x01\x00" + content
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (page[:100], page[100:200])) + b"0\r\n\r\n"
    yield http(chunks, headers={"Transfer-Encoding": "chunked"})
    yield http(chunks)
    yield http(chunks[:150], headers={"Transfer-Encoding": "chunked", "Content-Length": "9"})
    yield b"HTTP/1.1 100 Continue\r\n\r\n" + http(page)
    yield b"Content-Type: text/html\nServer: x\n\n" + page
    yield page


def charset() -> Iterator[bytes]:
    words = "<meta charset=%s><p>größe Straße 日本語 ひらがな Привет 한국어 中文 ไทย"
    for name in _CODECS:
        yield (words % name).encode(name, "ignore")
    yield from (
        b"GIF89a\0",
        b"%PDF-1.4",
        b"<?xml version='1.0' encoding='utf-8'?><html>",
        b"<rss version=2>",
        b"\0" * 40,
    )
    yield b"<!-- x --><?xml?><!DOCTYPE html><rdf:RDF xmlns='http://purl.org/rss/1.0/' x='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
    yield b'text/html; charset="utf-8", text/html'


def page() -> Iterator[bytes]:
    yield _PAGE.encode()
    yield _PAGE.encode("utf-16")
    yield b"<div>" * 60 + b"deep" + b"</p>" * 60
    yield b"<p a=1 b=2 c=3 d=4 e=5 f=6 g=7>many" * 40
    yield b"<table><form><table><b><p><a href=#a><a href=#b></table>text<frameset><noscript>x<svg><title>t</svg><math>y"
    yield b"<html><body><p>&#0;&#xd800;&#x110000;&nbsp;&zwj; a\x0cb\x1ec <!-- <p> -->"
    yield b"<p>a<![CDATA[x]]> <?php ?> </br><plaintext>z"


SEEDS = {"records": records, "body": body, "charset": charset, "page": page}
