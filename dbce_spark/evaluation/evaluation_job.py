"""Run all extractors on all sets: `dbce evaluate`."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
from tqdm import tqdm

from dbce_spark.config import DbceConfig, LabelConfig
from dbce_spark.dbce.classifier.classifier_file import load_classifier
from dbce_spark.errors import ConfigError, InputError
from dbce_spark.evaluation import datasets, extracted_texts, folds, gate
from dbce_spark.evaluation.datasets import Sets
from dbce_spark.evaluation.extracted_texts import Texts
from dbce_spark.evaluation.extracting import ensembles, extractors, given_extractors
from dbce_spark.evaluation.extracting.child_process import Extracted
from dbce_spark.evaluation.extracting.extractors import Extractor
from dbce_spark.evaluation.extracting.joint_extractors import JOINT, Setting
from dbce_spark.evaluation.extracting.peers import PEERS
from dbce_spark.evaluation.reporting import contrasts, evaluation_report, evaluation_summary
from dbce_spark.evaluation.scoring import analysis, facts, scores, stream_course
from dbce_spark.evaluation.scoring.analysis import Analysis
from dbce_spark.evaluation.scoring.node_scores import NodeScoreRow
from dbce_spark.evaluation.scoring.scores import ScorePart, Scores
from dbce_spark.files import storage

MAX_WORKERS = 2
"""Child processes an extractor runs in. Times are of CPU, so that more would change none of them; two leave a laptop
usable."""

ALL, OWN, PEERS_ONLY = "all", "own", "peers"
"""As the only name of an extractor: all that this machine can run; those of them that are this program's methods; the
others, with their ensembles."""

DESCRIPTION = "evaluation.json"
"""The description of an evaluation, its date, pages and extractors: without it its scores cannot be cited."""

SAME = frozenset(("dbce-spark",))
"""Left out of "all": it gives what `dbce` gives, by the law that Spark equals plain Python, and takes longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRequest:
    """The input and output of an evaluation. `limit` is how many pages of each set, from its start, and `sample` how
    many of these, by a hash of their ids; `time_limit` is seconds a page.

    `reuse` takes texts that an earlier run left in the output folder (`extracted_texts.Kept`). `folds` is a folder that
    `dbce train --folds` wrote, "" for none: `dbce` then labels each site by a classifier that has not seen it.
    `contrasts` is how many pages of each extractor are shown beside their gold, those it does worst on. `floors` is a
    file of floors to hold the scores to, "" for none; `pin_floors` writes what was reached into it
    instead, `lower_floors` even where that is less. `settings` are the parameters that differ from the shipped ones, as
    `--set` takes them.
    """

    paths: Sequence[str]
    extractors: Sequence[str]
    output: str
    limit: int | None
    time_limit: float
    sample: int | None = None
    reuse: bool = False
    folds: str = ""
    floors: str = ""
    pin_floors: bool = False
    lower_floors: bool = False
    contrasts: int = 0
    settings: Sequence[str] = ()


def evaluate(request: EvaluationRequest, config: DbceConfig) -> str:
    """Write scores, texts and pages (Parquet), evaluation.json, summary.md and report.html into the output folder, in
    place of others, and contrasts of pages beside them.

    Returns the summary, and a line on the floors.

    Raises:
        InputError: a file is not of gold pages, or there is none; the floors cannot be read.
        ConfigError: there is no such extractor, an ensemble without its members, floors to pin but no file, or floors
            for other parameters than the shipped ones.
        PlatformError: an extractor's package is not installed.
        EvaluationError: a score is under its floor; all files are written before.
    """
    _check_floors(request)
    requested, left_out = _chosen_names(request.extractors)
    names = _names(requested)
    combined = [name for name in names if ensembles.is_name(name)]
    ensembles.check_members(combined, names)  # rather than hours later, when they are combined
    with tqdm(desc="pages", unit=" pages", disable=None) as bar:
        single = [name for name in requested if not ensembles.is_name(name)]
        chosen = extractors.by_name(single, _setting(request, config, bar))
        gold = _gold(request)
        bar.reset(total=len(names) * len(gold.pages))
        stamps = {given_extractors.name_of(one): extracted_texts.stamp_of(one) for one in requested}
        run = _Run(request, gold.sets, bar, stamps)
        run.single(chosen)
        run.combined(combined)
    scored, of_nodes = _score(gold.sets, run.texts, names)
    notes = [
        *([f"Parameters that were set: {', '.join(request.settings)}."] if request.settings else ()),
        *_notes(gold, left_out, run.reused),
        *_learned(names, config.label, gold.sets, request.folds),
    ]
    summary = _write_results(run, scored, analysis.analyse(scored, of_nodes), notes)
    return summary + _check_or_pin(request, gate.measured(scored, gold.sets, folds.digest(request.folds)))


def _setting(request: EvaluationRequest, config: DbceConfig, bar: "tqdm[Any]") -> Setting:
    return Setting(
        config=config,
        time_limit=request.time_limit,
        workers=min(MAX_WORKERS, os.cpu_count() or 1),
        folds=request.folds,
        advance=bar.update,
    )


def _gold(request: EvaluationRequest) -> datasets.Gold:
    """Read the gold pages, and refuse those by which nothing can be measured."""
    gold = datasets.read(request.paths, request.limit, request.sample)
    if not any(page.gold.strip() for page in gold.pages):
        raise InputError(
            "the gold of every page is empty, and nothing can be measured by it; name files that hold some"
        )
    return gold


class _Run:
    """The extractions of one evaluation, kept as they come."""

    def __init__(self, request: EvaluationRequest, sets: Sets, bar: "tqdm[Any]", stamps: Mapping[str, str]):
        self.request, self.sets, self._bar, self._stamps = request, sets, bar, stamps
        self._batches: list[pa.RecordBatch] = []
        self.texts: dict[str, dict[str, dict[str, Extracted]]] = {}  # by extractor, set and page id
        self.reused = 0  # texts of an earlier run

    def single(self, chosen: Mapping[str, Extractor]) -> None:
        """Run extractors set by set, keeping the texts after each: a run that is ended loses one set."""
        kept = extracted_texts.read(self.request.output) if self.request.reuse else extracted_texts.NOTHING
        for at, (dataset, pages) in enumerate(self.sets.items(), start=1):
            self._bar.set_description(dataset)
            again = {
                name: kept.reusable(name, pages, stamp=self._stamps[name], time_limit=self.request.time_limit)
                for name in chosen
            }
            count = sum(map(len, again.values()))
            self._bar.update(count)
            self.reused += count
            missing = {name: [page for page in pages if page.page_id not in some] for name, some in again.items()}
            for name, made in extractors.run(chosen, missing).items():
                self._take(dataset, name, again[name] | made)
            to_come = list(self.sets)[at:]
            extracted_texts.write(self.request.output, [*self._batches, *kept.rows_of(to_come)])

    def combined(self, names: Sequence[str]) -> None:
        """Run the ensembles, on the texts of their members on all sets."""
        if not names:
            return
        self._bar.set_description("ensembles")
        for name, by_set in ensembles.combine(names, self.sets, self.texts).items():
            for dataset, extracted in by_set.items():
                self._take(dataset, name, extracted)
                self._bar.update(len(extracted))
        extracted_texts.write(self.request.output, self._batches)

    def _take(self, dataset: str, name: str, extracted: dict[str, Extracted]) -> None:
        self.texts.setdefault(name, {})[dataset] = extracted
        self._batches += extracted_texts.table(self.sets[dataset], name, extracted, stamp=self._stamps[name])


def _score(sets: Sets, texts: Texts, names: Sequence[str]) -> tuple[Scores, list[NodeScoreRow]]:
    """Measure all texts, and count the text nodes of each set, by extractor."""
    parts: list[ScorePart] = []
    of_nodes: list[NodeScoreRow] = []
    with tqdm(desc="scores", unit=" texts", total=len(names) * sum(map(len, sets.values())), disable=None) as bar:
        for dataset, pages in sets.items():
            of_set = {name: texts[name][dataset] for name in names}
            some, counted = scores.score(pages, facts.measure(pages), of_set, bar.update)
            parts += some
            of_nodes += counted
    return scores.join(parts, names), of_nodes


def _write_results(run: _Run, scored: Scores, analysed: Analysis, notes: Sequence[str]) -> str:
    """Write all files but the texts, which the run has written; return the summary."""
    course = stream_course.course(scored, run.sets)
    summary = evaluation_summary.text(analysed, notes, course)
    folder, count = run.request.output.rstrip("/"), run.request.contrasts
    scores.write(f"{folder}/scores.parquet", scored)
    facts.write(f"{folder}/pages.parquet", scored.pages)
    _write(f"{folder}/{DESCRIPTION}", _described(run.request, run.sets))
    _write(f"{folder}/summary.md", summary)
    shown = contrasts.write(folder, scored, run.sets, run.texts, count=count) if count else {}
    _write(f"{folder}/report.html", evaluation_report.html(analysed, scored, notes, shown, course))
    return summary


def _check_floors(request: EvaluationRequest) -> None:
    if request.pin_floors and not request.floors:
        raise ConfigError("--pin-floors needs a file to write to; add --floors FILE")
    if request.lower_floors and not request.pin_floors:
        raise ConfigError("--lower-floors has an effect beside --pin-floors only; add --pin-floors")
    if request.floors and request.settings:
        raise ConfigError("--floors holds scores with the shipped parameters; leave out --set, or --floors")


def _check_or_pin(request: EvaluationRequest, reached: Mapping[str, gate.Pinned]) -> str:
    """Hold the scores to their floors, or pin them; return a line on the result."""
    if request.pin_floors:
        gate.pin(request.floors, reached, lower=request.lower_floors)
        return f"\n{request.floors} holds what was reached.\n"
    if request.floors:
        return f"\n{gate.check(request.floors, reached):,} scores are not under {request.floors}.\n"
    return ""


def _names(requested: Sequence[str]) -> list[str]:
    """List the names of extractors in their order, and refuse two that are called the same."""
    names = [*map(given_extractors.name_of, requested)]
    for name, count in Counter(names).items():
        if count > 1:
            raise ConfigError(f"--extractors: two are called {name}; give each a name of its own")
    return names


def _chosen_names(requested: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List the extractors to run, each once; and of "all" and "peers" why some are left out."""
    own = tuple(name for name in JOINT if name not in SAME)
    if list(requested) == [OWN]:
        return own, ()
    if list(requested) not in ([ALL], [PEERS_ONLY]):
        return tuple(dict.fromkeys(requested)), ()
    lacking = {name: peer.lacking() for name, peer in PEERS.items()}
    peers = [name for name in PEERS if not lacking[name]]
    made = [name for name in ensembles.NAMES if set(ensembles.members([name])) <= set(peers)]
    left_out = tuple(sorted({reason for reason in lacking.values() if reason}))
    return (*(own if list(requested) == [ALL] else ()), *peers, *made), left_out


def _described(request: EvaluationRequest, sets: Sets) -> str:
    """Describe the evaluation as JSON; files by their names, pages and folds by digests, so that it holds on any
    machine."""
    described = {
        "date": datetime.now(UTC).date().isoformat(),
        "files": [PurePosixPath(path).name for path in request.paths],
        "pages": {name: len(pages) for name, pages in sets.items()},
        "digests": {name: gate.pages_digest(pages) for name, pages in sets.items()},
        "extractors": [*map(given_extractors.described, request.extractors)],
        "limit": request.limit,
        "sample": request.sample,
        "folds": folds.digest(request.folds),
        "settings": [*request.settings],
    }
    return json.dumps(described, indent=1) + "\n"


def _notes(gold: datasets.Gold, left_out: Sequence[str], reused: int) -> Iterator[str]:
    """Iterate over sentences on what was left out, and on what was not measured again."""
    pages = gold.pages
    if len(pages) == 1:
        yield "There is one page: each mean is its score alone, and says nothing of others."
    if empty := sum(not page.gold.strip() for page in pages):
        yield f"The gold of {empty:,} of {len(pages):,} pages is empty: F1 is 1 for no text there, and 0 for any."
    if passed_over := ", ".join(f"{name} {count:,}" for name, count in sorted(gold.skipped.items())):
        yield f"Skipped, because page and gold do not belong together: {passed_over}."
    if left_out:
        yield f"Left out: {'; '.join(left_out)}."
    if reused:
        yield (
            f"{reused:,} texts are those of an earlier run into this folder, with the seconds they took then; pages,"
            " versions of extractors and our calls of them are the same."
        )


def _learned(names: Sequence[str], label: LabelConfig, sets: Sets, folds_folder: str) -> Iterator[str]:
    """Say which of the sets the classifier was trained on, if it scores pages that it may have seen."""
    if folds_folder or not JOINT.keys() & set(names) or label.by != "classifier":
        return
    card = load_classifier(label.classifier).card.get("sets", {})
    learned = {name.removesuffix(datasets.LABELLED) for name in card}
    if seen := [name for name in sets if name.removesuffix(datasets.LABELLED) in learned]:
        yield (
            f"The classifier was trained on pages of {', '.join(seen)}, so methods of ours score too well there; give"
            " --folds (docs/benchmark.md)."
        )


def _write(path: str, text: str) -> None:
    storage.write(path, text.encode())
