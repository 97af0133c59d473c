"""Training: folds, parts, and the same numbers as where the classifier is used."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce import buckets, pages, pools, sites
from dbce_spark.dbce.classifier.block_scores import integer_scores
from dbce_spark.dbce.classifier.classifier_file import save_classifier
from dbce_spark.dbce.classifier.forest import BINS
from dbce_spark.evaluation.training import example_columns, prepared_pages, trainer, word_weights
from tests.support import small_classifier
from tests.support.builders import config

SITES = st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=60)


@given(SITES, st.integers(2, 6))
def test_folds_share_no_site(sites: list[str], count: int) -> None:
    """Every page is in a fold, all of a site in the same one, and the order of the pages does not matter."""
    found = trainer.folds(sites, count)
    of_site = {site: {int(fold) for one, fold in zip(sites, found, strict=True) if one == site} for site in sites}
    again = trainer.folds(sites[::-1], count)[::-1]

    assert len(sites) == len(found)
    assert {1} == {len(some) for some in of_site.values()}
    assert set(found.tolist()) <= set(range(count))
    assert found.tolist() == again.tolist()


@given(SITES, st.integers(2, 6))
def test_folds_are_about_as_large(sites: list[str], count: int) -> None:
    """The largest is no larger than the smallest and one site; none is empty where there are sites enough."""
    sizes = np.bincount(trainer.folds(sites, count), minlength=count)
    largest_site = max(sites.count(site) for site in sites)

    assert sizes.max() - sizes.min() <= largest_site
    assert (sizes.min() > 0) == (len(set(sites)) >= count)


@given(SITES, st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3)))
def test_pinned_sites_stay_in_their_folds(sites: list[str], pinned: dict[str, int]) -> None:
    """However many pages they have; each other site went to a fold that had no more pages than any."""
    found = trainer.folds(sites, 4, pinned)
    fold_of = dict(zip(sites, found.tolist(), strict=True))
    others = [site for site in sites if site not in pinned]
    sizes = np.bincount(found, minlength=4)

    assert {site: fold for site, fold in pinned.items() if site in fold_of}.items() <= fold_of.items()
    for fold in {fold_of[site] for site in others}:
        own = [others.count(site) for site in {*others} if fold_of[site] == fold]
        assert sizes[fold] - min(own) <= sizes.min()


def test_pins_of_no_site_change_nothing() -> None:
    """Folds are those without pins."""
    sites = ["a", "b", "b", "c", "d", "d", "d"]

    assert trainer.folds(sites, 3).tolist() == trainer.folds(sites, 3, {"elsewhere": 2}).tolist()


def test_pages_of_a_host_share_a_weight_and_those_of_a_light_set_have_less() -> None:
    """A page weighs PAGE_WEIGHT, unless its host has more than HOST_PAGES or its set is one of WEIGHT_OF_SET."""
    (light, share), *_ = prepared_pages.WEIGHT_OF_SET.items()
    gold = [("wcxb", "a.example"), (light, "b.example"), *[("wcxb", "c.example")] * 2 * prepared_pages.HOST_PAGES]
    examples = [SimpleNamespace(gold=SimpleNamespace(dataset=dataset), host=site) for dataset, site in gold]

    found = prepared_pages._page_weights(examples)  # type: ignore[arg-type]

    assert [1, share, *[0.5] * 2 * prepared_pages.HOST_PAGES] == (found / prepared_pages.PAGE_WEIGHT).tolist()


def test_articles_weigh_less_than_other_pages_as_whole_ones() -> None:
    """As articles they weigh what others do; each block of a page weighs the same, but one without words."""
    gold = [("a.example", "article"), ("b.example", "listing")]
    examples = [
        SimpleNamespace(gold=SimpleNamespace(dataset="set", page_type=kind), host=site, by_set=1, by_reader=1)
        for site, kind in gold
    ]
    counted, page_of_row = np.array([4, 0, 9, 7]), np.array([0, 0, 0, 1])
    weights, _, whole = prepared_pages._weights(examples, counted, page_of_row)  # type: ignore[arg-type]
    article = prepared_pages.ARTICLE_WEIGHT

    assert [article / 2, 0, article / 2, 1] == (whole / prepared_pages.PAGE_WEIGHT).tolist()
    assert [1, 1] == (np.bincount(page_of_row, weights) / prepared_pages.PAGE_WEIGHT).round(9).tolist()


def _target(labels: npt.NDArray[np.bool_]) -> trainer._Target:
    return trainer._Target(labels, np.ones(len(labels)), np.arange(len(labels)) % trainer.PARTS)


def test_a_forest_learns_from_scores_by_forests_that_have_not_seen_the_site() -> None:
    """Whatever the labels of a part of the sites are, the scores of its rows stay as they are, and those of others
    do not."""
    codes = np.random.default_rng(1).integers(0, BINS, (4, 3000), np.uint8)
    labels = codes[0] > BINS // 2
    is_own = _target(labels).parts == 1

    _, scores = _target(labels).stacked(codes, 5)
    _, others = _target(labels ^ is_own).stacked(codes, 5)

    assert scores[is_own].tolist() == others[is_own].tolist()
    assert scores[~is_own].tolist() != others[~is_own].tolist()


def test_a_forest_learns_from_class_words_weighed_without_the_site(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the labels of a part of the sites are, its rows have the same numbers of class words."""
    monkeypatch.setattr(word_weights, "HOSTS", 2)
    of = small_classifier.prepared()
    words = word_weights.count_common(of.slots, [one.host for one in of.examples])
    is_own = _target(of.is_content).parts == 1

    columns, others = (
        trainer._word_columns(of.slots, words, _target(labels)) for labels in (of.is_content, of.is_content ^ is_own)
    )

    assert all(np.array_equal(values[is_own], others[name][is_own]) for name, values in columns.items())
    assert any(not np.array_equal(values[~is_own], others[name][~is_own]) for name, values in columns.items())


def test_training_computes_what_labelling_does(tmp_path: Path) -> None:
    """With nothing hidden, a page's rows in training are those that its scores are computed of."""
    of = small_classifier.prepared()
    half_done = small_classifier.classifier()
    of_words = of.slots.columns(half_done.class_words)
    words = example_columns.binning(of_words)
    own = np.concatenate((of.page_codes, words.codes(of_words, len(of.page_of_row))))
    firsts = [integer_scores(forest.log_odds(own)) for forest in (half_done.first, half_done.first_replies)]
    binnings, codes = trainer._second_codes(of, own, *firsts)
    scores = integer_scores(half_done.second.log_odds(codes))
    binnings["third"], around = trainer._third_codes(of.examples, scores, example_columns.row_columns)
    binnings["units"], pooled = trainer._third_codes(of.examples, scores, example_columns.unit_columns)
    codes = np.concatenate((codes, around, pooled))
    classifier = replace(half_done, binnings={"page": of.page_binning, "words": words, **binnings})
    path = tmp_path / "skew.npz"
    save_classifier(classifier, path)
    settings = config(f"label.classifier={path}")

    features = classifier.block_features([one.parsed for one in of.examples])  # one in eight shown without its URL
    parsed = [
        pages.build_page(one.gold.fetch(0), one.parsed, of_one, settings)
        for one, of_one in zip(of.examples, features, strict=True)
    ]
    evidence = pools.evidence(parsed, settings.bucket.cap, lambda: classifier)
    found = sites.choose_crosses(buckets.members(parsed), settings)
    annotated = sites.annotate_crosses([one.cross for one in found], parsed, settings)
    assert len(of.examples) == len(parsed)
    for at, one in enumerate(parsed):
        gathered = sites.gather(one, annotated[one.capture_id], evidence[one.capture_id], "")

        by_run = classifier.second_scores([gathered])
        of_page = codes[:, : len(of.page_of_row)][:, of.page_of_row == at]
        everything = by_run.codes_with_units(np.arange(len(of_page.T)))
        assert np.array_equal(of_page, everything), one.capture.url


def test_types_are_those_of_the_gold() -> None:
    """They go by the names of the gold, or by those of the types that these are taken for; pages of one type teach
    none."""
    of = small_classifier.prepared()
    classifier = small_classifier.classifier()
    assert classifier.page_types is not None
    names = {one.gold.page_type for one in of.examples}
    untyped = [replace(one, gold=replace(one.gold, page_type="form")) for one in of.examples]

    assert [trainer.MERGED.get(one, one) for one in sorted(names)] == [*classifier.page_types.names]
    assert small_classifier.train(replace(of, examples=untyped)).page_types is None


def test_hidden_evidence_is_hidden_from_training() -> None:
    """For a page without neighbours, the second half of the rows has the bin of missing evidence."""
    of = small_classifier.prepared()
    nothing = replace(of, few_neighbours=small_classifier.alone(of.examples))
    scores = np.zeros(len(of.page_of_row), np.int64)
    binnings, codes = trainer._second_codes(nothing, of.page_codes, scores, scores)
    own = len(of.page_codes) + len(binnings["context"].names) + len(binnings["replies"].names)
    for group in ("siblings", "crosses"):
        rows = slice(own, own + len(binnings[group].names))
        own = rows.stop

        assert np.array_equal(binnings[group].codes({}, len(of.page_of_row)), codes[rows, len(of.page_of_row) :])
    assert own == len(codes)


def test_same_pages_give_the_same_bytes(tmp_path: Path) -> None:
    """Trained twice, also from pages prepared anew, the file is the same."""
    again = small_classifier.train(prepared_pages.prepare(small_classifier.examples(), small_classifier.PATTERNS))
    paths = [tmp_path / "one.npz", tmp_path / "other.npz"]
    save_classifier(small_classifier.classifier(), paths[0])
    save_classifier(again, paths[1])

    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_pages_that_are_left_out_change_nothing() -> None:
    """Whatever a site that is not trained on calls content, the trees are the same."""
    of = small_classifier.prepared()
    left_out = of.sites[0]
    is_chosen = np.array([site != left_out for site in of.sites])
    rows = ~is_chosen[of.page_of_row]
    swapped = replace(of, is_content=np.where(rows, ~of.is_content, of.is_content))
    one, other = (small_classifier.train(some.of_pages(is_chosen)) for some in (of, swapped))

    assert one.second.values.tolist() == other.second.values.tolist()
    assert one.first.values.tolist() == other.first.values.tolist()
    assert one.second.values.tolist() != small_classifier.classifier().second.values.tolist()


def test_trained_classifier_knows_content_from_menus() -> None:
    """On pages it has seen it is right of most words, and comments are no content to it."""
    of = small_classifier.prepared()
    classifier = small_classifier.classifier()
    of_words = classifier.binnings["words"].codes(of.slots.columns(classifier.class_words), len(of.page_of_row))
    sure = classifier.first.log_odds(np.concatenate((of.page_codes, of_words))) > 0
    right = of.weights[sure == of.is_content].sum() / of.weights.sum()

    assert right > 0.85


def test_pages_weigh_the_same() -> None:
    """However many words a page has, its blocks weigh together what those of another do; hosts of many pages less."""
    of = small_classifier.prepared()
    assert max(Counter(one.gold.site for one in of.examples).values()) <= prepared_pages.HOST_PAGES

    assert np.allclose(prepared_pages.PAGE_WEIGHT, np.bincount(of.page_of_row, of.weights))


def test_labels() -> None:
    """Content is what the gold holds half of; a comment is what the comments hold and the gold does not."""
    of = small_classifier.prepared()

    assert of.is_content.any()
    assert of.is_reply.any()
    assert not (of.is_content & of.is_reply).any()
    assert of.marks_replies.all()
    assert of.page_codes.max() < BINS


@pytest.mark.parametrize(("pages", "expected"), [(1, 1.0), (25, 1.0), (50, 0.5)])
def test_many_pages_of_a_host_share_their_weight(pages: int, expected: float) -> None:
    """Beyond HOST_PAGES."""
    one = small_classifier.examples()[0]
    many = [replace(one, page=replace(one.page, capture_id=f"{at}", capture=one.page.capture)) for at in range(pages)]
    made = prepared_pages.prepare(many, small_classifier.PATTERNS)

    assert np.allclose(expected * prepared_pages.PAGE_WEIGHT, np.bincount(made.page_of_row, made.weights))
