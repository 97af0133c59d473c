"""Make URL keys: the paper's examples, and laws that hold for every URL."""

from urllib.parse import urlencode

from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.streaming.urltree import url_keys
from dbce_spark.streaming.urltree.url_keys import UrlKey, url_key
from dbce_spark.streaming.urltree.urltree_settings import Rule, load

RULES = load().keys.rules
GOOGLE = (
    "http://news.google.com/news/url?sa=t&fd=R&usg=AFQjCNHEIIAoeLGPfbkX6IdaQ2xoYptq-w&url=http://abcnews.go.com/kabc/"
    "story?section%3Dnews/local/los_angeles%26id%3D8691010"
)
ABC = "http://abcnews.go.com/kabc/story?section=news/local/los_angeles&id=8691010"


def key_of(url: str, title: str = "") -> str:
    return url_key(url, title, RULES).key


def test_example_of_the_paper_gives_its_url_key_step_by_step() -> None:
    """The example of section 3, a story of ABC News that Google News refers to, has the paper's key."""
    actual = url_key(GOOGLE, "Title", RULES, redirects={GOOGLE: ABC})
    expected = UrlKey(
        request=GOOGLE,
        response=ABC,
        titled="http://abcnews.go.com/kabc/story?_cid_=b78a3223503896721cca1303f776159b&id=8691010"
        "&section=news/local/los_angeles",
        key="http://abcnews.go.com/kabc/story?id=8691010",
        domain="go.com",
        branch=("abcnews", "kabc", "story", "?id=8691010"),
    )

    assert expected == actual


def test_rules_of_table_1_keep_their_parameter() -> None:
    """Each rule keeps the parameter named in the paper, and drops the rest."""
    of_document = {
        "http://abcnews.go.com/US/wireStory?id=1&page=2": "id",
        "http://www.fitchratings.com/creditdesk/press_releases/detail.cfm?print=1&pr_id=7": "pr_id",
        "http://bbs.chinadaily.com.cn/viewthread.php?gid=2&tid=721": "tid",
        "http://www.hurriyetdailynews.com/n.php?n=name-2011-10-24&x=1": "n",
        "http://globeandmail.golfcanada.ca/story/?articleId=5&a=b": "articleId",
        "http://podcast.ft.com/index.php?pid=1201&sid=3": "pid",
        "http://www.aljazeera.com?utm=1": "_cid_",
        "http://www.dailymail.co.uk/home/index.html?ITO=1490": "_cid_",
        "http://www.foxnews.com/on-air/hannity/index.html?x=1": "_cid_",
    }
    actual = [key_of(url).partition("?")[2].partition("=")[0] for url in of_document]

    assert list(of_document.values()) == actual


def test_rule_for_a_front_page_leaves_its_articles_alone() -> None:
    """A page below the front page is named by its path."""
    assert key_of("http://www.aljazeera.com/news/1.html?x=1") == "http://www.aljazeera.com/news/1.html"


def test_without_a_rule_the_query_is_dropped() -> None:
    """A URL that no rule fits loses its query, as in the paper."""
    assert key_of("http://www.ft.com/world/2013/02/news.html?feed=3") == "http://www.ft.com/world/2013/02/news.html"


def test_first_rule_that_fits_decides() -> None:
    """The first of two rules that fit is applied."""
    rules = [Rule(match="a", keep=("x",)), Rule(match="a.org", keep=("y",))]

    assert url_key("http://a.org/?y=1&x=2", "", rules).key == "http://a.org/?x=2"


def test_rule_is_tried_from_the_start_of_the_host() -> None:
    """A host that only appears in a query does not select a rule."""
    assert key_of("http://mirror.org/?to=abcnews.go.com&id=1") == "http://mirror.org/"


def test_other_title_is_another_document_where_a_rule_keeps_it() -> None:
    """A front page that changes under one URL has a key for each title."""
    front = "http://www.dailymail.co.uk/home/index.html"

    assert key_of(front, "Monday") != key_of(front, "Tuesday")


def test_redirects_in_a_circle_end() -> None:
    """The last URL that is new is the response URL."""
    assert url_keys.response_url("a", {"a": "b", "b": "c", "c": "a"}) == "c"


def test_spellings_of_a_url_have_one_key() -> None:
    """Escapes, case of host, port, fragment and order of parameters do not change the key."""
    rules = [Rule(match="news.eu", keep=("a", "b"))]
    spellings = [
        "http://news.eu/caf%C3%A9?b=%31&a=x+y",
        "HTTP://NEWS.EU:80/caf%c3%a9?a=x%20y&b=1#top",
        "http://news.eu./café?a=x y&b=1",
    ]
    actual = {url_key(url, "", rules).key for url in spellings}

    assert {"http://news.eu/caf%C3%A9?a=x%20y&b=1"} == actual


def test_scheme_is_no_part_of_the_branch() -> None:
    """A page over http and over https is one document."""
    one, other = (url_key(f"{scheme}://news.eu/a", "", RULES) for scheme in ("http", "https"))

    assert (one.domain, one.branch) == (other.domain, other.branch)


def test_branch_of_the_example_in_section_2() -> None:
    """The branch goes from the domain news.eu to the host, the path and the file."""
    key = url_key("http://www.news.eu/politics/europe/article1.html", "", RULES)

    assert (key.domain, *key.branch) == ("news.eu", "www", "politics", "europe", "article1.html")


def test_url_that_is_none_is_its_own_key() -> None:
    """A URL that cannot be parsed is kept as it is, and raises nothing."""
    assert url_key("http://[half", "", RULES).titled == "http://[half"


def test_duplicates_grow_with_each_step() -> None:
    """One document by three URLs of a feed, which lead to two, is counted as in figure 2."""
    redirects = {"http://a.org/r?1": "http://b.org/x?feed=1", "http://a.org/r?2": "http://b.org/x?feed=2"}
    urls = [*redirects, "http://b.org/x?feed=1", "http://b.org/x?feed=1", "http://b.org/y"]
    actual = url_keys.duplicates(url_key(url, "T", RULES, redirects) for url in urls)

    assert {"request": 1, "response": 2, "titled": 2, "key": 3} == actual


pairs = st.tuples(st.sampled_from(("a", "b", "id", "_x")), st.text(min_size=1, max_size=5))


@given(st.lists(pairs, max_size=4, unique_by=lambda pair: pair[0]), st.integers(0, 3))
def test_order_of_parameters_says_nothing(some: list[tuple[str, str]], turn: int) -> None:
    """The key is the same for every order of the parameters, whatever they hold."""
    rules = [Rule(match="news.eu", keep=("a", "id"))]
    turned = some[turn:] + some[:turn]
    one, other = (url_key(f"http://news.eu/p?{urlencode(pairs)}", "", rules) for pairs in (some, turned))

    assert one.key == other.key


@given(st.text(max_size=30))
def test_key_of_a_key_is_itself(path: str) -> None:
    """Normalising a key again changes nothing."""
    rules = [Rule(match="news.eu", keep=("id",))]
    key = url_key(f"http://news.eu/{path}", "", rules).key

    assert key == url_key(key, "", rules).key
