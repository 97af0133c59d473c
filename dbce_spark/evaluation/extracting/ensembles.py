"""Extractors made of extractors: the ensembles of chapter 5 of the study of extractors.

Layer 1 is the texts of other extractors, which each vote for the leaf nodes that they hold (`leaves.held`, with the
difference from the study's substring). Layer 2 takes a leaf by its votes: in `em_x_y` if at least x of the y
extractors of table 5.1 vote for it, in the learned ones if a classifier decides so that was trained on pages of other
sites. The study has no weighted vote. It tries its classifiers on 30 % of its pages, whatever their sites; here every
page is labelled, each by a classifier that saw none of its site.

Of the study's thirteen extractors, go-domdistiller is a Go program without a Python package: in its place votes
newspaper4k, another extractor of articles, which the study does not have. For boilerpipe stands boilerpy3, for
go-readability readability-lxml, which needs no Node where "readability-js" does.

Other extractors vote with the study's where they stand behind the name: `em_3_5+dbce` has six members.
"""

import re
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from dbce_spark.errors import ConfigError
from dbce_spark.evaluation.datasets import GoldPage, Sets
from dbce_spark.evaluation.extracted_texts import Texts
from dbce_spark.evaluation.extracting.child_process import Extracted
from dbce_spark.evaluation.scoring import leaves
from dbce_spark.evaluation.scoring.leaves import Leaves, Mask
from dbce_spark.html.dom import PageError

Votes = npt.NDArray[np.bool_]
"""(leaves, members)."""

SELECTIONS = {
    5: ("resiliparse", "bte", "trafilatura", "readability", "newspaper4k"),
    8: ("resiliparse", "bte", "trafilatura", "readability", "newspaper4k", "boilerpy3", "justext", "goose3"),
}
"""Extractors that vote, by y (table 5.1)."""

THIRTEEN = (*SELECTIONS[8], "lxml-cleaner", "html2text", "html-text", "inscriptis", "beautifulsoup")
"""Extractors that vote in the learned ensembles (section 5.2): all of the study's extractors but web2text."""

FOLDS = 10
"""Folds of sites: each is labelled by a classifier of the others. With fewer sites, each is a fold."""

TREES = 100
"""Trees of the random forest: scikit-learn's default. The study names no parameter."""

SEED = 20170101
"""Seed of the forest, so that the same votes give the same trees."""

# Trees are grown on all that was learned: it is kinds of leaves with weights, of which a draw would leave out a third.
LEARNED: Mapping[str, Callable[[], Any]] = {
    "ensemble-lr": partial(LogisticRegression, max_iter=1000),
    "ensemble-rf": lambda: RandomForestClassifier(TREES, bootstrap=False, random_state=SEED),
}
"""The classifiers of section 5.2, by the name that `--extractors` takes."""

NAMES = ("em_2_5", "em_3_5", "em_4_5", "em_4_8", "em_6_8", *LEARNED)
"""Ensembles that the study tries; x and y may be others of table 5.1."""

MAX_MORE = 3
"""Members behind the name of an ensemble; a classifier is asked about each possible vote of all members."""

_THRESHOLD = re.compile(r"em_(\d+)_(\d+)")


@dataclass(frozen=True, slots=True)
class Ensemble:
    """The members, and the decision by their votes: the kept leaves of each page, or why there are none."""

    members: tuple[str, ...]
    decide: Callable[[Sequence["Ballot"], tuple[str, ...]], list[Mask | str]]


@dataclass(frozen=True, slots=True)
class Ballot:
    """The leaves of one page, and which of them each extractor's text holds."""

    page: GoldPage
    leaves: Leaves
    held: Mapping[str, Mask]  # by extractor
    seconds: Mapping[str, float]  # of CPU, by extractor: its own and those of its vote
    error: str  # why the page has no leaves, or ""

    def votes(self, members: Sequence[str]) -> Votes:
        """Stack the votes of these members."""
        return np.stack([self.held[member] for member in members], axis=1)


def is_name(name: str) -> bool:
    """Test for the form of an ensemble's name, rather than that of an extractor that runs by itself."""
    return name.partition("+")[0] in LEARNED or name.startswith("em_")


def members(names: Iterable[str]) -> tuple[str, ...]:
    """List the extractors that these ensembles need, each once.

    Raises:
        ConfigError: a name is of no ensemble.
    """
    return tuple(dict.fromkeys(member for name in names for member in named(name).members))


def check_members(names: Sequence[str], present: Container[str]) -> None:
    """Refuse ensembles of which a member is not present.

    Raises:
        ConfigError: one is not, or a name is of no ensemble.
    """
    missing = [name for name in members(names) if name not in present]
    if missing:
        raise ConfigError(f"{', '.join(names)}: made of {', '.join(missing)} too; add them to --extractors")


def named(name: str) -> Ensemble:
    """Return the ensemble of this name.

    Raises:
        ConfigError: there is none.
    """
    of_study, *more = name.split("+")
    if not all(more) or len(more) > MAX_MORE:
        raise ConfigError(f"--extractors {name}: write {of_study}+NAME, with up to {MAX_MORE} names of extractors")
    if of_study in LEARNED:
        return Ensemble(_with(THIRTEEN, more), partial(_learned, LEARNED[of_study]))
    found = _THRESHOLD.fullmatch(of_study)
    if found is None:
        raise ConfigError(f"--extractors {name}: no ensemble; known are em_x_y, {', '.join(LEARNED)}")
    least, size = map(int, found.groups())
    if size not in SELECTIONS or not 1 <= least <= size + len(more):
        sizes = " or ".join(map(str, SELECTIONS))
        raise ConfigError(
            f"--extractors {name}: in em_x_y, y must be {sizes} and x from 1 to the number of members; write em_2_5"
        )
    return Ensemble(_with(SELECTIONS[size], more), partial(_counted, least))


def combine(names: Sequence[str], sets: Sets, texts: Texts) -> dict[str, dict[str, dict[str, Extracted]]]:
    """Extract pages by ensembles from the texts of their members: by ensemble, data set and page id.

    Learned ones are trained on all sets together. The seconds of a page are those of its members and of
    finding the leaves that they hold, without any for training.

    Raises:
        ConfigError: a name is of no ensemble, or a member has not run.
    """
    check_members(names, texts)
    ensembles = {name: named(name) for name in names}
    needed = members(names)
    ballots = [
        vote(page, {member: texts[member][dataset][page.page_id] for member in needed})
        for dataset, pages in sets.items()
        for page in pages
    ]
    combined: dict[str, dict[str, dict[str, Extracted]]] = {
        name: {dataset: {} for dataset in sets} for name in ensembles
    }
    for name, ensemble in ensembles.items():
        for ballot, kept in zip(ballots, ensemble.decide(ballots, ensemble.members), strict=True):
            combined[name][ballot.page.dataset][ballot.page.page_id] = _extracted(ballot, ensemble.members, kept)
    return combined


def _with(voters: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*voters, *more)))


def vote(page: GoldPage, texts: Mapping[str, Extracted]) -> Ballot:
    """Find the leaves of a page, and which of them each of these texts holds."""
    started = time.process_time()
    try:
        found, error = leaves.parse_leaves(page.html), ""
    except PageError as no_page:
        found, error = leaves.NONE, str(no_page)
    share = (time.process_time() - started) / max(len(texts), 1)
    held, seconds = {}, {}
    for member, extracted in texts.items():
        started = time.process_time()
        held[member] = leaves.held(found, extracted.text)
        seconds[member] = share + extracted.seconds + time.process_time() - started
    return Ballot(page, found, held, seconds, error)


def _extracted(ballot: Ballot, voters: Sequence[str], kept: Mask | str) -> Extracted:
    seconds = sum(ballot.seconds[member] for member in voters)
    if ballot.error or isinstance(kept, str):
        return Extracted("", seconds, ballot.error or str(kept))
    return Extracted(ballot.leaves.text(kept), seconds, "")


def _counted(least: int, ballots: Sequence[Ballot], voters: tuple[str, ...]) -> list[Mask | str]:
    """Keep leaves with at least `least` votes (section 5.1)."""
    return [ballot.votes(voters).sum(axis=1) >= least for ballot in ballots]


def _learned(classifier: Callable[[], Any], ballots: Sequence[Ballot], voters: tuple[str, ...]) -> list[Mask | str]:
    """Keep leaves that are content to a classifier trained on the gold of other sites (section 5.2)."""
    sites = [ballot.page.unit for ballot in ballots]
    folds = min(FOLDS, len(set(sites)))
    if folds < 2:
        return ["untrained: all pages are of one site"] * len(ballots)
    kinds = [vote_kinds(ballot.votes(voters)) for ballot in ballots]
    gold = [leaves.held(ballot.leaves, ballot.page.gold) for ballot in ballots]
    kept: list[Mask | str] = [""] * len(ballots)
    for seen, unseen in GroupKFold(folds).split(sites, groups=sites):
        likely = trained(
            classifier(),
            np.concatenate([kinds[at] for at in seen]),
            np.concatenate([gold[at] for at in seen]),
            len(voters),
        )
        for at in unseen:
            kept[at] = (
                "untrained: the other sites have leaves of one class" if likely is None else likely[kinds[at]] > 0.5
            )
    return kept


def vote_kinds(votes: Votes) -> npt.NDArray[np.int64]:
    """Encode the votes for each leaf as one number: all that a classifier sees, and alike for most leaves."""
    return votes @ (1 << np.arange(votes.shape[1]))


def trained(model: Any, kinds: npt.NDArray[np.int64], content: Mask, voters: int) -> npt.NDArray[np.float64] | None:
    """Train a classifier, and return how likely a leaf of each possible kind is content, (2 ** voters); None if it saw
    one class only.

    It is trained on the kinds, each with its leaves as weight, both classes weighing the same.
    """
    counts = np.stack([np.bincount(kinds[content == label], minlength=1 << voters) for label in (False, True)])
    if not counts.any(axis=1).all():
        return None
    labels, seen = np.nonzero(counts)
    weights = (counts / (2 * counts.sum(axis=1, keepdims=True)) * counts.sum())[labels, seen]
    features = np.arange(1 << voters)[:, None] >> np.arange(voters) & 1
    model.fit(features[seen], labels, sample_weight=weights)
    likely: npt.NDArray[np.float64] = model.predict_proba(features)[:, 1]
    return likely
