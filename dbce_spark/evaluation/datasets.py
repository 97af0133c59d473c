"""Gold pages: HTML with the main text that people marked in it, its site and its time."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from pathlib import PurePosixPath

from tqdm import tqdm

from dbce_spark.archive import warc
from dbce_spark.archive.index.index_entry import payload_digest
from dbce_spark.archive.index.urls import host_of, url_key
from dbce_spark.dbce.classifier import page_links
from dbce_spark.errors import InputError
from dbce_spark.evaluation import formats
from dbce_spark.evaluation.formats.entry import GoldEntry
from dbce_spark.evaluation.formats.json_lines import TEXTS
from dbce_spark.files import jsonl, storage, timestamps
from dbce_spark.model import Capture, digest

LABELLED = "-read"
"""The end of the name of a set whose pages readers labelled whole; without it, the set that they are of."""

MIN_COVERAGE = 0.9
"""Share of the gold's tokens that stand in the page (`tok_cov`). Below, gold and page are not of the same capture, and
no extractor could do well."""

_URL = re.compile(r"https?://[^\s\x00-\x1f\x7f]+", re.IGNORECASE)
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+")

Nodes = Sequence[tuple[int, str]]
"""Text nodes of a page in order: 1 for content, 2 for comments, 0 for all else, and the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldPage:
    """One page with its main text. An unknown value is ""."""

    dataset: str
    page_id: str
    url: str
    site: str
    group: str  # pages that may share a template: site, or site and era
    url_key: str  # the same for all captures of one page, and for no other page of the set; never ""
    timestamp: int  # microseconds since 1970-01-01 UTC, 0 if unknown
    lang: str
    page_type: str
    html: str
    gold: str
    comments: str = ""  # what readers wrote below it, where the set keeps that apart
    nodes: Nodes = ()  # where a reader labelled the whole page: its text nodes in order, each with its label

    @property
    def address(self) -> str:
        """Return the URL under which the page stands in an archive, the same for all its captures and for no other
        page.

        Its own where that is a URL of its site and of its key. Else a made-up one: at its site, or where it has
        none at a site of its group, or of its own. What is made up is under the top level that is no one's (RFC 2606),
        or has its name in the path: nothing can be learned from such a URL.
        """
        host = _host(self.site) or f"{digest(self.site or self.group or self.page_id)}{page_links.NO_ONES}"
        is_own = _URL.fullmatch(self.url) and url_key(self.url) == self.url_key
        if is_own and _site(self.url) == _site(f"http://{host}/"):
            return self.url
        folder = "" if host.endswith(page_links.NO_ONES) else f"made-up{page_links.NO_ONES}/"
        return f"http://{host}/{folder}{digest(self.url_key)}.html"

    @property
    def unit(self) -> str:
        """Return the name that the page is drawn and weighed with."""
        return unit_of(self.site, self.dataset, self.page_id)

    @property
    def body(self) -> bytes:
        """Encode the HTML as an archive holds it."""
        return self.html.encode("utf-8", "replace")

    def fetch(self, offset: int) -> warc.Fetch:
        """Return the page as a capture of an archive, as `gold_archive.write` writes it and the method reads it, but
        for the place.

        Era is no part of its site: captures of one page from before and after a redesign are each other's snapshots.
        """
        url, html = self.address, self.body
        capture = Capture(
            url=url,
            url_key=url_key(url),
            site=_site(url),
            timestamp=self.timestamp,
            warc_file=self.dataset,
            warc_offset=offset,
            warc_length=len(html),
            record_id=self.page_id,
            payload_digest=payload_digest(html),
            http_status=200,
            mime="text/html",
            declared_charset="utf-8",
            truncated=False,
        )
        return warc.Fetch(capture, html)


def unit_of(site: str, dataset: str, page_id: str) -> str:
    """Return the name that a page is drawn and weighed with: its site, or its own where that is unknown. Some sets
    write www. before a site, and others leave it out."""
    return site.removeprefix("www.") or f"{dataset}/{page_id}"


Sets = Mapping[str, Sequence[GoldPage]]
"""The pages of each data set, by its name."""


@dataclass(frozen=True, slots=True)
class Gold:
    """The pages of each data set, in the order of its lines, and how many pages were skipped.

    A page is skipped if its gold is missing or elsewhere (`tok_cov`), or if a published set has the same HTML twice.
    """

    sets: Mapping[str, list[GoldPage]]
    skipped: Counter[str]

    @property
    def pages(self) -> list[GoldPage]:
        """List the pages of all sets, set after set."""
        return [page for of_set in self.sets.values() for page in of_set]


def read(paths: Iterable[str], limit: int | None = None, sample: int | None = None) -> Gold:
    """Read the pages of files of JSON lines and of folders of published sets: of each data set the first `limit`, of
    which `sample` are chosen.

    Raises:
        InputError: one cannot be read, a line is no gold page, two have the same id, or there is no page.
    """
    sets: dict[str, dict[str, GoldPage]] = defaultdict(dict)
    skipped: Counter[str] = Counter()
    for path in paths:
        for entry in _entries(path):
            name = set_name(entry, path)
            if entry.missing or _coverage(entry) < MIN_COVERAGE:
                skipped[name] += 1
                continue
            page = _page(name, entry)
            if page.page_id in sets[name]:
                raise InputError(f"{entry.place}: {name} already has a page {page.page_id}; give each file once")
            if limit is None or len(sets[name]) < limit:
                sets[name][page.page_id] = page
    found = {name: _with_own_keys(_sample(pages, sample)) for name, pages in sets.items() if pages}
    if not found:
        raise InputError(f"no page with tok_cov of {MIN_COVERAGE} or more; name files that hold some")
    return Gold(found, skipped)


def set_name(entry: GoldEntry, path: str) -> str:
    """Return the name of the data set that an entry of a file or folder belongs to."""
    name: str = entry.fields.get("dataset") or PurePosixPath(path).name.split(".")[0]
    return name


def _sample(pages: Mapping[str, GoldPage], count: int | None) -> list[GoldPage]:
    """Choose pages by a hash of their ids, in their order: a page more in the set displaces one page at most."""
    chosen = set(sorted(pages, key=lambda page_id: sha256(page_id.encode()).digest())[:count])
    return [page for page_id, page in pages.items() if page_id in chosen]


def siblings(pages: Sequence[GoldPage]) -> dict[str, int]:
    """Count for each page, by its id, the other pages of its group. Captures of one page count once.

    Pages of the site from another era are not counted: the method may set a page beside them, but what two templates
    have in common is little evidence on either.
    """
    keys: dict[str, set[str]] = defaultdict(set)
    for page in pages:
        keys[page.group].add(page.url_key)
    return {page.page_id: len(keys[page.group]) - 1 if page.group else 0 for page in pages}


def snapshots(pages: Sequence[GoldPage]) -> dict[str, int]:
    """Count for each page, by its id, the other captures of it, of whatever era."""
    captures = Counter(page.url_key for page in pages)
    return {page.page_id: captures[page.url_key] - 1 for page in pages}


def convert(paths: Iterable[str], output: str) -> int:
    """Write the pages that `read` takes as one file of JSON lines, with all fields and nothing skipped for `tok_cov`;
    return how many they are.

    `output` may end in .xz or .gz; the same input gives the same bytes.

    Raises:
        InputError: an input cannot be read, or there is no page.
    """
    count = 0
    with storage.atomic_file(output) as stream, storage.compressed(stream, output) as lines:
        for path in paths:
            for entry in _entries(path):
                if not entry.missing:
                    lines.write(jsonl.line(entry.fields))
                    count += 1
        if not count:
            raise InputError("no page with a gold text; name files or folders that hold some")
    return count


def _entries(path: str) -> Iterator[GoldEntry]:
    name = PurePosixPath(path).name
    return iter(tqdm(formats.entries(path), desc=name, unit=" pages", leave=False, disable=None))


def _page(dataset: str, entry: GoldEntry) -> GoldPage:
    text = {name: entry.fields.get(name) or "" for name in TEXTS}
    page_id, url = entry.fields["id"], text["url"] if host_of(text["url"]) else ""
    key = text["url_key"] or url
    site = text["site"] or host_of(url).removeprefix("www.")
    return GoldPage(
        dataset=dataset,
        page_id=page_id,
        url=url,
        site=site,
        group=text["group"] or site,
        url_key=(url_key(key) if host_of(key) else key) or f"gold:{page_id}",
        timestamp=_microseconds(text["wayback_ts"] or text["date"], entry.place),
        lang=text["lang"],
        page_type=text["page_type"],
        html=entry.fields["html"],
        gold=entry.fields["gold"],
        comments=text["gold_comments"],
        nodes=_nodes(entry),
    )


def _nodes(entry: GoldEntry) -> Nodes:
    nodes = entry.fields.get("nodes") or []
    try:
        return tuple((int(label), str(text)) for label, text in nodes)
    except (TypeError, ValueError) as error:
        raise InputError(f"{entry.place}: nodes must be a list of [label, text]: {error}") from error


def _with_own_keys(pages: list[GoldPage]) -> list[GoldPage]:
    """Give pages that share a URL but no time of capture keys of their own.

    They are other pages more often than other captures: a set that lacks a page's URL names the front page of its
    site. A `url_key` that differs from the URL's own is kept.
    """
    of_url = Counter(page.url_key for page in pages if page.url)
    of_time = Counter((page.url_key, page.timestamp) for page in pages if page.url)

    def is_apart(page: GoldPage) -> bool:
        others = of_time[page.url_key, page.timestamp] if page.timestamp else of_url[page.url_key]
        return others <= 1 or url_key(page.url) != page.url_key

    return [page if is_apart(page) else replace(page, url_key=f"gold:{page.page_id}") for page in pages]


def _site(url: str) -> str:
    return warc.site_of(url, "domain")


def _host(site: str) -> str:
    """Return the host that a site's name is, or begins with, or ""."""
    host = host_of(f"http://{site}")
    return host if _HOST.fullmatch(host) else ""


def _microseconds(date: str, place: str) -> int:
    """Parse 20051230052639, 20051230 or ISO 8601 as microseconds; 0 for an empty date."""
    if not date:
        return 0
    try:
        when = datetime.strptime(date, "%Y%m%d%H%M%S") if len(date) == 14 else datetime.fromisoformat(date)
        return timestamps.from_datetime(when)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{place}: {date} is no date; write 20051230052639, 20051230 or 2005-12-30") from error


def _coverage(entry: GoldEntry) -> float:
    value = entry.fields.get("tok_cov", 1.0)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{entry.place}: tok_cov must be a number, not {value!r}")
    return float(value)
