"""The classifier: the features of pages and their scores, the same whatever pages come beside."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from dbce_spark.dbce.classifier.classify import ARTICLE, WHOLE, Binning
from dbce_spark.model import Page
from tests.support import small_classifier
from tests.support.builders import alone_on_site, page, parsed
from tests.support.strategies import documents


def test_features_do_not_depend_on_the_pages_beside() -> None:
    """Bit for bit, however pages come together."""
    classifier = small_classifier.classifier()
    pages = [one.parsed for one in small_classifier.examples()[:16]]
    together = classifier.block_features(pages)
    cut = [
        *classifier.block_features(pages[:5]),
        *classifier.block_features(pages[5:6]),
        *classifier.block_features(pages[6:]),
    ]
    for one, other in zip(together, cut, strict=True):
        assert np.array_equal(one.codes, other.codes)
        assert np.array_equal(one.first_scores, other.first_scores)
        assert np.array_equal(one.keys, other.keys)


@settings(max_examples=25)
@given(documents)
def test_features_of_any_page(html: str) -> None:
    """One column a block, first scores from 0 to 1024, bins below 64."""
    page = parsed(html)
    (made,) = small_classifier.classifier().block_features([page])

    assert {len(page.blocks)} == {made.codes.shape[1], len(made.first_scores), made.keys.shape[1]}
    assert made.first_scores.max() <= 1024
    assert made.codes.max() < 64
    assert 6 == len(made.keys)


def test_bins() -> None:
    """Bin i holds what is at least edge i - 1 and less than edge i; what is missing is unknown."""
    binning = Binning(("b", "a"), (np.array([0.0, 2.0]), np.array([5.0])))
    columns = {"a": np.array([4.9, 5.0, 6.0]), "b": np.array([-1.0, 0.0, 2.0]), "c": np.zeros(3)}

    assert [[0, 1, 2], [0, 1, 1]] == binning.codes(columns, 3).tolist()
    assert [[0, 0], [0, 0]] == binning.codes({}, 2).tolist()


def test_page_without_features_has_no_scores() -> None:
    """A page that was read for bit patterns cannot be scored."""
    with pytest.raises(ValueError, match="has no features"):
        small_classifier.classifier().second_scores([alone_on_site(page("<p>x</p>"))])


def test_scores_do_not_depend_on_the_pages_beside(trained_pages: list[Page]) -> None:
    """Scores are the same bit for bit; they lie between 0 and 1, one a block."""
    classifier = small_classifier.classifier()
    for scores_of, content in product((classifier.scores, classifier.scores_with_replies), (WHOLE, ARTICLE)):
        together = scores_of(classifier.second_scores([alone_on_site(one) for one in trained_pages]), content)
        alone = [scores_of(classifier.second_scores([alone_on_site(one)]), content)[0] for one in trained_pages]

        assert [one.tolist() for one in alone] == [one.tolist() for one in together]
        assert all(len(one.blocks) == len(scores) for one, scores in zip(trained_pages, together, strict=True))
        assert all(0 <= scores.min() <= scores.max() <= 1 for scores in together)


def test_comments_only_add_to_the_scores(trained_pages: list[Page]) -> None:
    """Content or comment is at least as likely as content."""
    classifier = small_classifier.classifier()
    some = classifier.second_scores([alone_on_site(one) for one in trained_pages])
    for content in (WHOLE, ARTICLE):
        alone, both = classifier.scores(some, content), classifier.scores_with_replies(some, content)
        assert all((one <= other).all() for one, other in zip(alone, both, strict=True))
