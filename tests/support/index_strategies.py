"""Generators of entries that any index can hold."""

from hypothesis import strategies as st

from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.archive.index.urls import url_key
from tests.support.indexes import entry, micros

HOSTS = (
    "www.example.org",
    "news.example.org",
    "example.org",
    "example.co.uk",
    "www.example.com",
    "192.0.2.7",
    "localhost",
)
MIMES = ("", "text/html", "text/plain", "application/pdf", "image/png")
_START = micros("1996-05-01T00:00:00") // 1_000_000


def _entry(host: str, path: str, second: int, mime: str, status: int, digit: str, place: tuple[int, int]) -> IndexEntry:
    url = f"http://{host}/{path}"
    return entry(
        url=url,
        urlkey=url_key(url),
        timestamp=(_START + second) * 1_000_000,
        mime=mime,
        status=status,
        digest=f"sha1:{digit * 32}",
        offset=place[0],
        length=place[1],
    )


entries = st.builds(
    _entry,
    st.sampled_from(HOSTS),
    st.sampled_from(("", "a", "a/b", "news/1", "index.php?id=7")),
    st.integers(0, 25 * 365 * 86_400),
    st.sampled_from(MIMES),
    st.sampled_from((0, 200, 301, 404)),
    st.sampled_from("ABC"),
    st.tuples(st.integers(0, 2**40), st.integers(1, 2**31)),
)
"""Captures of a few hosts over 25 years, whose fields hold no separator."""

_some_hosts = st.lists(st.sampled_from(HOSTS), max_size=2).map(tuple)

filters = st.fixed_dictionaries(
    {},
    optional={
        "surts": st.lists(st.sampled_from(("org,example", "org,example)/a", "com,", "http://(uk,co,")), max_size=2).map(
            tuple
        ),
        "domains": st.lists(st.sampled_from(("example.org", "example.co.uk", "192.0.2.7")), max_size=2).map(tuple),
        "hosts": _some_hosts,
        "mimes": st.lists(st.sampled_from(("text/html", "text/*", "image/png")), max_size=2).map(tuple),
        "statuses": st.lists(st.sampled_from((200, 404)), max_size=2).map(tuple),
        "since": st.sampled_from(("", "2001", "199906")),
        "until": st.sampled_from(("", "2010", "2015-03-01")),
        "digests": st.lists(st.sampled_from(("A" * 32, "sha1:" + "B" * 32)), max_size=2).map(tuple),
        "urls": st.lists(st.sampled_from((r"\?id=\d", r"/a$", "^http://news")), max_size=2).map(tuple),
        "sample": st.sampled_from((1.0, 0.5)),
    },
)
"""Some of the filters, with values that fit some entries."""
