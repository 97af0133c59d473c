"""Learn from a stream which parameters change the content."""

import tomllib
from collections.abc import Iterable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dbce_spark.streaming.urltree.rule_learning import Learner, as_toml
from dbce_spark.streaming.urltree.url_keys import url_key
from dbce_spark.streaming.urltree.urltree_settings import LearnConfig, Rule
from tests.support.urltree_documents import config

LEARN = LearnConfig(documents=40, scripts=1000, least=5, same=0.9)


def learned(documents: Iterable[tuple[str, int]], learn: LearnConfig = LEARN) -> list[Rule]:
    """Return the rules learned from documents, each a URL and the number of its story: 80 blocks of a template, 20 its
    own."""
    learner = Learner(learn)
    for url, story in documents:
        blocks = np.concatenate([np.arange(80), 1000 + 20 * story + np.arange(20)]).astype(np.uint64)
        learner.see(url_key(url, f"Story {story}", ()), blocks[:, None])
    return learner.rules()


def test_parameter_that_changes_the_content_is_kept() -> None:
    """A parameter such as `id` of abcnews.go.com in table 1 is kept, while section and feed are dropped."""
    stream = [(f"http://a.org/story?id={at % 7}&section={'xy'[at % 7 % 2]}&feed={at % 3}", at % 7) for at in range(21)]

    assert [Rule(match=r"a\.org/story(\?|$)", keep=("id",))] == learned(stream)


def test_title_is_kept_where_a_page_changes_under_one_url() -> None:
    """A front page as in table 1, whose parameter only names the referring site, keeps the hash of its title."""
    stream = [(f"http://a.org/?utm={at % 4}", at // 4) for at in range(16)]

    assert [Rule(match=r"a\.org/(\?|$)", keep=("_cid_",))] == learned(stream)


def test_where_all_is_one_document_no_rule_is_needed() -> None:
    """A script with one document gets no rule, since all parameters are dropped by default."""
    assert [] == learned((f"http://a.org/a.html?feed={at}", 1) for at in range(9))


def test_two_parameters_are_kept_where_it_takes_both() -> None:
    """A thread and its page are both kept."""
    stream = [(f"http://a.org/t?t={t}&p={p}&sid={t}{p}{again}", 10 * t + p) for t in range(4) for p in range(4)
              for again in range(2)]  # fmt: skip

    assert [("p", "t")] == [rule.keep for rule in learned(stream)]


def test_few_documents_ask_for_no_rule() -> None:
    """Four documents are too few for a rule, since their differences may be chance."""
    assert [] == learned((f"http://a.org/story?id={at}", at) for at in range(4))


def test_script_seen_longest_ago_is_forgotten() -> None:
    """The number of scripts watched is bounded."""
    few = LearnConfig(documents=40, scripts=2, least=5, same=0.9)
    stream = [(f"http://a.org/{script}?id={at}", at) for script in "abac" for at in range(5)]

    assert [r"a\.org/a(\?|$)", r"a\.org/c(\?|$)"] == [rule.match for rule in learned(stream, few)]


def test_learned_rules_are_read_as_configuration() -> None:
    """The rules written can be laid over the shipped file, and keep their parameters."""
    rules = learned((f"http://a.org/story.do?id={at}", at) for at in range(5))
    read = tomllib.loads(as_toml(rules))["keys"]["rules"]

    assert [{"match": rules[0].match, "keep": ["id"]}] == read
    assert url_key("http://a.org/story.do?x=1&id=3", "", rules).key == "http://a.org/story.do?id=3"


@settings(max_examples=30)
@given(st.permutations([(f"http://a.org/story?id={at % 5}&feed={at % 2}", at % 5) for at in range(10)]))
def test_order_of_arrival_changes_no_rule(stream: list[tuple[str, int]]) -> None:
    """The rules do not depend on the order of documents, as long as all are compared."""
    assert learned(sorted(stream)) == learned(stream)


def test_shipped_parameters_are_valid() -> None:
    """The shipped file fills every field."""
    assert (40, 1000) == (config().learn.documents, config().learn.scripts)
