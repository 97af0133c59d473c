"""Learn labels by SVMs with an RBF kernel on each kind of features, on several, and by vote (KrdWrd chapter 4, table
4.1)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.metrics import precision_recall_fscore_support
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from dbce_spark.annotation.markup.page_file import Sheet
from dbce_spark.annotation.markup.rendering import Rendering, picture_path
from dbce_spark.annotation.markup.submission import Tags
from dbce_spark.config import Bound, PositiveFloat, at_least, fill
from dbce_spark.errors import InputError
from dbce_spark.files import markdown_table
from dbce_spark.model import Label
from reproductions.krdwrd.segment_features import Values, pixels, structural, textual, visual

Truth = npt.NDArray[np.bool_]
Indexes = npt.NDArray[np.intp]

TEXT, DOM, VISUAL = "cl", "dom", "viz"
"""Kinds of features, by the names of table 4.1."""

PIXELS = "pixels"
"""Another kind, of which table 4.1 has no row: which and how many of its `viz` are JAMF's, KrdWrd does not say."""

VOTE = "vote"
_NOT_EMPTY = Bound("not be empty", bool)

REGRESSION = "regression"
MACHINES: Mapping[str, Any] = {"": SVC(kernel="rbf"), REGRESSION: SVR(kernel="rbf")}
"""Machines by what is added to the names of their results. Chapter 4 says "Support Vector Machine" in its text and
"stock SVM regression" under table 4.1: the one separates labels, the other comes near to 1 for content and to 0 for the
rest, and what it puts over a half is content."""

SETS: Sequence[tuple[str, ...]] = (
    (TEXT,), (DOM,), (VISUAL,), (TEXT, DOM), (DOM, VISUAL), (TEXT, VISUAL), (TEXT, DOM, VISUAL),
    (PIXELS,), (VISUAL, PIXELS), (TEXT, DOM, VISUAL, PIXELS),
)  # fmt: skip
"""Kinds of features that one machine sees, in the order of table 4.1; those with pixels behind them."""

PUBLISHED: Mapping[tuple[str, ...], tuple[int, float, float, float]] = {
    (TEXT,): (21, 0.86, 0.61, 0.76),
    (DOM,): (13, 0.65, 0.64, 0.56),
    (VISUAL,): (8, 0.86, 0.64, 0.82),
    (TEXT, DOM): (34, 0.67, 0.74, 0.57),
    (DOM, VISUAL): (21, 0.67, 0.72, 0.59),
    (TEXT, VISUAL): (29, 0.86, 0.63, 0.78),
    (TEXT, DOM, VISUAL): (42, 0.68, 0.76, 0.58),
}
"""Table 4.1: number of features, accuracy, precision and recall."""

WIDTHS = {
    TEXT: len(textual.NAMES),
    DOM: len(structural.NAMES),
    VISUAL: len(visual.NAMES),
    PIXELS: len(pixels.NAMES),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The parameters of conf/learning.toml, where each field is explained."""

    folds: Annotated[int, at_least(2)]
    vectors: Annotated[int, at_least(10)]
    grid_vectors: Annotated[int, at_least(10)]
    grid_folds: Annotated[int, at_least(2)]
    costs: Annotated[tuple[PositiveFloat, ...], _NOT_EMPTY]
    gammas: Annotated[tuple[PositiveFloat, ...], _NOT_EMPTY]
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """The segments of some pages that have a label, one after the other."""

    values: Mapping[str, Values]  # by the kind of features
    is_content: Truth  # undecided is not content
    pages: Indexes  # of each segment its page
    places: Indexes  # and which segment of that page it is
    words: npt.NDArray[np.int64]
    ids: tuple[str, ...]  # of the pages
    lengths: tuple[int, ...]  # segments of each page, those without a label too

    def together(self, kinds: Sequence[str]) -> Values:
        return np.concatenate([self.values[kind] for kind in kinds], axis=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Scores of the predictions for pages that a machine was not trained on."""

    name: str
    kinds: tuple[str, ...]
    features: int
    accuracy: float
    precision: float  # of content, as are recall and F1
    recall: float
    f1: float
    accuracy_by_words: float


@dataclass(frozen=True, slots=True)
class Compared:
    """The results of each set of features, and the predictions for every segment, by the name of the result."""

    results: list[Result]
    predicted: Mapping[str, Truth]

    def labelling(self, vectors: Vectors, name: str) -> dict[str, Tags]:
        """Return the predictions as labels of pages: None for a segment without one."""
        found: dict[str, list[Label | None]] = {
            page: [None] * length for page, length in zip(vectors.ids, vectors.lengths, strict=True)
        }
        for page, place, is_content in zip(
            vectors.pages.tolist(), vectors.places.tolist(), self.predicted[name].tolist(), strict=True
        ):
            found[vectors.ids[page]][place] = Label.CONTENT if is_content else Label.BOILERPLATE
        return {page: tuple(tags) for page, tags in found.items()}


def plan(given: Mapping[str, Any] | None = None) -> Plan:
    """Load the shipped plan, overlaid by what is given.

    Raises:
        ConfigError: an unknown parameter, a value of the wrong type or out of its range.
    """
    return fill(Plan, "learning.toml", given=given)


def vectors(
    sheets: Iterable[Sheet], labels: Mapping[str, Tags], renderings: Mapping[str, Rendering], screenshots: str = ""
) -> Vectors:
    """Compute the vectors of all segments with a label, of the pages that have labels; `renderings` may be empty.

    screenshots: the folder with the pictures of the renderings; "" for none: then no page has features of its pixels.

    Raises:
        InputError: a page has other segments than its labels or its rendering, or no picture, or no page has labels.
    """
    of_pages = []
    for sheet in sheets:
        if (tags := labels.get(sheet.page)) is not None:
            rendering = renderings.get(sheet.page)
            counts = {len(tags), len(sheet.segments), *({len(rendering.runs)} if rendering else set())}
            if len(counts) > 1 or (renderings and rendering is None):
                raise InputError(f"{sheet.page}: labels, segments and rendering do not match; make them again")
            of_pages.append(_of_page(sheet, tags, rendering, screenshots))
    if not of_pages:
        raise InputError("no page has labels; give the pages that were labelled")
    return Vectors(
        values={kind: np.concatenate([one.values[kind] for one in of_pages]) for kind in of_pages[0].values},
        is_content=np.concatenate([one.is_content for one in of_pages]),
        pages=np.concatenate([one.pages + at for at, one in enumerate(of_pages)]),
        places=np.concatenate([one.places for one in of_pages]),
        words=np.concatenate([one.words for one in of_pages]),
        ids=tuple(page for one in of_pages for page in one.ids),
        lengths=tuple(length for one in of_pages for length in one.lengths),
    )


def _of_page(sheet: Sheet, tags: Tags, rendering: Rendering | None, screenshots: str) -> Vectors:
    """Compute the vectors of the segments of one page that have a label."""
    labelled = np.array([tag is not None for tag in tags], np.bool_)
    values = {TEXT: textual.features(sheet.texts)[labelled], DOM: structural.features(sheet)[labelled]}
    if rendering:
        values[VISUAL] = visual.features(rendering)[labelled]
        if screenshots:
            picture = pixels.read_picture(picture_path(screenshots, sheet.page))
            values[PIXELS] = pixels.features(rendering, picture)[labelled]
    places = np.flatnonzero(labelled)
    return Vectors(
        values=values,
        is_content=np.array([tag is Label.CONTENT for tag in tags], np.bool_)[labelled],
        pages=np.zeros(len(places), np.intp),
        places=places,
        words=np.array([len(text.split()) for text in sheet.texts], np.int64)[labelled],
        ids=(sheet.page,),
        lengths=(len(tags),),
    )


def compare(vectors: Vectors, by: Plan, advance: Callable[[str], object]) -> Compared:
    """Score every set of features by each machine, then the vote of those that separate single kinds, each weighed by
    how often it was right on the pages it was trained on, in parts that it was not trained on.

    Raises:
        InputError: there are fewer pages than folds, or but one label.
    """
    kinds = [kind for kind in (TEXT, DOM, VISUAL, PIXELS) if kind in vectors.values]
    sets = [some for some in SETS if set(some) <= set(kinds)]
    named = {
        " ".join((*some, suffix)).strip(): (some, machine) for suffix, machine in MACHINES.items() for some in sets
    }
    predicted = {name: np.zeros(len(vectors.is_content), np.bool_) for name in named}
    voted = np.zeros(len(vectors.is_content), np.bool_)
    for train, test in _folds(vectors, by):
        votes = np.zeros(len(test))
        for name, (some, machine) in named.items():
            values = vectors.together(some)
            says_content, right = _trained(machine, values[train], vectors.is_content[train], vectors.pages[train], by)
            predicted[name][test] = says_content(values[test])
            if name in kinds:
                votes += np.where(predicted[name][test], right - 0.5, 0.5 - right)
            advance(name)
        voted[test] = votes > 0
    found = [_result(name, some, predicted[name], vectors) for name, (some, _) in named.items()]
    return Compared([*found, _result(VOTE, tuple(kinds), voted, vectors)], predicted | {VOTE: voted})


def table(results: Sequence[Result]) -> str:
    """Lay out the results as Markdown, beside those of table 4.1."""
    head = (
        "modules",
        "features",
        "accuracy",
        "precision",
        "recall",
        "F1",
        "accuracy by words",
        "published",
        "A",
        "P",
        "R",
    )
    rows = []
    for one in results:
        published = PUBLISHED.get(one.kinds) if one.name != VOTE else None
        beside = (str(published[0]), *(f"{value:.2f}" for value in published[1:])) if published else ("", "", "", "")
        figures = (one.accuracy, one.precision, one.recall, one.f1, one.accuracy_by_words)
        rows.append((one.name, str(one.features), *(f"{value:.3f}" for value in figures), *beside))
    return markdown_table.table(head, rows, rule=f"{'|---' * len(head)}|") + "\n"


def _folds(vectors: Vectors, by: Plan) -> "list[tuple[Indexes, Indexes]]":
    """Split the segments by pages, as indexes to train on and to test on."""
    count = int(vectors.pages.max()) + 1
    if count < by.folds:
        raise InputError(f"{count} pages cannot be cut into {by.folds} folds; label more")
    order = np.random.default_rng(by.seed).permutation(count)
    fold_of = np.empty(count, np.intp)
    fold_of[order] = np.arange(count) % by.folds
    folds = fold_of[vectors.pages]
    return [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(by.folds)]


def _trained(
    machine: Any, values: Values, truth: Truth, pages: Indexes, by: Plan
) -> tuple[Callable[[Values], Truth], float]:
    """Train a machine with the best cost and width of a grid; return it and the share that such a one got right in the
    search."""
    if truth.all() or not truth.any():
        raise InputError("all segments to train on have one label; label other pages, too")
    some = _drawn(len(truth), by.grid_vectors, by.seed)
    scaled = Pipeline([("scaler", StandardScaler()), ("machine", machine)])
    searched = GridSearchCV(
        scaled,
        {"machine__C": [*by.costs], "machine__gamma": [*by.gammas]},
        scoring=lambda trained, seen, labels: float((_says_content(trained, seen) == labels).mean()),
        cv=GroupKFold(by.grid_folds),
        refit=False,
    ).fit(values[some], truth[some], groups=pages[some])
    many = _drawn(len(truth), by.vectors, by.seed)
    best = clone(scaled).set_params(**searched.best_params_).fit(values[many], truth[many])
    return partial(_says_content, best), float(searched.best_score_)


def _says_content(trained: Any, values: Values) -> Truth:
    found: Truth = trained.predict(values) > 0.5
    return found


def _drawn(count: int, wanted: int, seed: int) -> Indexes:
    return np.sort(np.random.default_rng(seed).permutation(count)[:wanted])


def _result(name: str, kinds: tuple[str, ...], predicted: Truth, vectors: Vectors) -> Result:
    precision, recall, f1, _ = precision_recall_fscore_support(
        vectors.is_content, predicted, average="binary", zero_division=np.nan
    )
    right = predicted == vectors.is_content
    return Result(
        name=name,
        kinds=kinds,
        features=sum(WIDTHS[kind] for kind in kinds),
        accuracy=float(right.mean()),
        precision=float(precision),
        recall=float(recall),
        f1=float(f1),
        accuracy_by_words=float(np.average(right, weights=vectors.words)),
    )
