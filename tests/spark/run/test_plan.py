"""The plan of a run, and the refusals to resume it with another. No Spark is started."""

import configparser
import re
from dataclasses import replace
from pathlib import Path

import pytest

from dbce_spark.errors import ConfigError, OutputError
from dbce_spark.log import Log
from dbce_spark.spark.run import checkpoints, heartbeat, plan, run_lock, run_output, staging
from dbce_spark.spark.run.plan import Plan
from dbce_spark.spark.run.run_request import RunRequest
from tests.support.builders import config

CONFIG = config("label.by=T002")
FILES = ["b.warc", "a.warc"]


def planned(*settings: str, files: list[str] = FILES, limit: int | None = None) -> Plan:
    return plan.made(files, ["i.cdxj"], "", config("label.by=T002", *settings), limit=limit)


def request(output: Path, *, overwrite: bool = False, limit: int | None = None) -> RunRequest:
    return RunRequest(files=FILES, output=str(output), with_html=False, limit=limit, started=0.0, overwrite=overwrite)


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Before anything is kept no run was begun; then one was, in whatever order its inputs are named."""
    assert not plan.is_begun(planned(), str(tmp_path))
    plan.save(planned(limit=3), str(tmp_path))

    assert plan.is_begun(planned(files=FILES[::-1], limit=3), str(tmp_path))


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (planned("lsh.threshold=0.3"), "lsh.threshold was "),
        (planned(limit=3), "limit was null, is 3"),
        (planned(files=["a.warc"]), "1 file no longer among the inputs: b.warc"),
        (planned(files=[*FILES, *map(str, range(7))]), "7 files new among the inputs: 0, 1, 2, 3, 4 and 2 more"),
        (replace(planned(), versions=planned().versions | {"numpy": "1"}), 'versions.numpy was "'),
        (
            planned("select.hosts=" + str([f"host-{at}" for at in range(99)]).replace("'", '"')),
            "select.hosts was [], is",
        ),
    ],
)
def test_going_on_otherwise_is_refused_with_the_difference(tmp_path: Path, other: Plan, difference: str) -> None:
    """The difference is named, with both values, shortened where it is long."""
    plan.save(planned(), str(tmp_path))
    with pytest.raises(OutputError) as refused:
        plan.is_begun(other, str(tmp_path))

    assert difference in str(refused.value)
    assert "--overwrite" in str(refused.value)
    assert len(str(refused.value)) < 400 + len(str(tmp_path))
    assert planned().digest != other.digest


@pytest.mark.parametrize(
    "setting",
    [
        "corpus.min_words=9",
        "comparison.least=9",
        "acquire.poll_seconds=9.0",
        "stream.batch_files=9",
        "engine.local_bytes=9",
    ],
)
def test_settings_that_no_row_follows_from_may_change(setting: str) -> None:
    """A run is gone on with under others; what an output was made with does not name them."""
    assert planned() == planned(setting)


def test_plans_alike_have_one_digest() -> None:
    """In whatever order their settings were written; of what made the rows it names this package and Python."""
    plain = planned()

    assert plain.digest == replace(plain, config=dict(reversed(plain.config.items()))).digest
    assert {"dbce_spark", "python", "numpy"} <= plain.versions.keys()


def test_all_libraries_that_rows_follow_from_are_of_a_plan() -> None:
    """A plain install has no others, but for those that read stores and feeds, write reports, count on a terminal, or
    make archives of gold pages."""
    setup = configparser.ConfigParser(comment_prefixes=("#",))
    setup.read(Path(__file__).parents[3] / "setup.cfg")
    installed = re.findall(r"^[\w-]+", setup["options"]["install_requires"], re.MULTILINE)
    compute_nothing = {"fsspec", "urllib3", "jinja2", "tqdm", "warcio"}

    assert {*installed} - compute_nothing | {"pyspark", "htmldate"} == {*plan._VERSIONS_OF}


def test_other_indexes_are_named_once() -> None:
    """As inputs, and not among the settings too."""
    other = replace(planned(), indexes=["j.cdxj"])

    assert [
        "1 index file no longer among the inputs: i.cdxj",
        "1 index file new among the inputs: j.cdxj",
    ] == list(plan.differences(planned(), other))


def test_what_another_version_has_staged_is_not_gone_on_with(tmp_path: Path) -> None:
    """The tables there may have other names and forms; the error names the option that starts afresh."""
    plan.save(replace(planned(), staging_version=1), str(tmp_path))
    with pytest.raises(OutputError, match=r"another version of this program.*--overwrite starts afresh"):
        plan.is_begun(planned(), str(tmp_path))

    assert planned().digest == replace(planned(), staging_version=1).digest


def test_another_classifier_is_another_plan(tmp_path: Path) -> None:
    """A classifier is known by its bytes, not by the name of its file; without one nothing is read."""
    plans = []
    for content, name in ((b"one", "my.npz"), (b"other", "my.npz"), (b"other", "moved.npz")):
        learned = tmp_path / name
        learned.write_bytes(content)
        settings = config(f"label.classifier={learned}")
        plans.append(plan.made(FILES, [], "", settings, limit=None))

    assert ["classifier"] == [one.split()[0] for one in plan.differences(*plans[:2])]
    assert [] == [*plan.differences(*plans[1:])]
    assert "" == planned(f"label.classifier={tmp_path / 'none.npz'}").classifier


def test_a_classifier_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The run ends before it has begun."""
    with pytest.raises(ConfigError, match=r"none\.npz cannot be read"):
        plan.made(FILES, [], "", config(f"label.classifier={tmp_path / 'none.npz'}"), limit=None)


@pytest.mark.parametrize("left", ['{"inputs": []}', "", '{"value": [], "digest": ""}'])
def test_a_plan_of_another_version_is_refused(tmp_path: Path, left: str, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing that an earlier version of this program, or a disk, has left is guessed at."""
    path = Path(staging.path(str(tmp_path), staging.PLAN))
    path.parent.mkdir()
    path.write_text(left)
    checkpoints.write(staging.done(str(tmp_path), staging.PAGES, 0), 1)

    assert [] == plan.read_files(str(tmp_path))
    assert "" == caplog.text  # it is refused, and nothing is done again
    with pytest.raises(OutputError, match="no plan of this version"):
        plan.is_begun(planned(), str(tmp_path))


def test_an_unfinished_output_is_gone_on_with_or_started_afresh(tmp_path: Path) -> None:
    """With the same plan it is no error that the output exists, with another it is; --overwrite may always."""
    plan.save(request(tmp_path).plan(CONFIG), str(tmp_path))
    (tmp_path / "extractions").mkdir()
    run_output.check(request(tmp_path), CONFIG)
    run_output.check(request(tmp_path, limit=3, overwrite=True), CONFIG)

    assert request(tmp_path).goes_on(CONFIG)
    assert not request(tmp_path, overwrite=True).goes_on(CONFIG)
    with pytest.raises(OutputError, match="limit was null, is 3"):
        run_output.check(request(tmp_path, limit=3), CONFIG)


@pytest.mark.parametrize(("keeps", "remedy"), [(True, "to resume it, or"), (False, "another --output, or --overwrite")])
def test_what_keeps_nothing_is_not_offered_for_resuming(tmp_path: Path, keeps: bool, remedy: str) -> None:
    """A run without Spark that was ended is done again, whatever it is given."""
    plan.save(request(tmp_path).plan(CONFIG), str(tmp_path))
    heartbeat.write(str(tmp_path), replace(heartbeat.begin(Log()), keeps=keeps))

    with pytest.raises(OutputError, match=remedy):
        run_output.check(request(tmp_path, limit=3), CONFIG)


def test_a_run_at_work_is_named_before_its_settings_are(tmp_path: Path) -> None:
    """To be shown --overwrite would lead to nothing while it works."""
    plan.save(request(tmp_path).plan(CONFIG), str(tmp_path))
    with run_lock.hold(str(tmp_path)), pytest.raises(OutputError, match="another run is at work there; wait"):
        run_output.check(request(tmp_path, limit=3), CONFIG)


def test_an_output_that_is_a_file_is_named_as_one(tmp_path: Path) -> None:
    """No lock is looked for in it."""
    taken = tmp_path / "taken"
    taken.touch()

    with pytest.raises(OutputError, match="taken is a file; give a folder for the output"):
        run_output.check(request(taken), CONFIG)


def test_a_finished_output_is_not_gone_on_with(tmp_path: Path) -> None:
    """Also where its staging was not removed any more."""
    plan.save(request(tmp_path).plan(CONFIG), str(tmp_path))
    (tmp_path / "run.json").write_text("{}")

    with pytest.raises(OutputError, match="exists; give another --output"):
        run_output.check(request(tmp_path), CONFIG)
    with pytest.raises(OutputError, match="exists; give another --output"):
        request(tmp_path).goes_on(CONFIG)
    assert not request(tmp_path, overwrite=True).goes_on(CONFIG)


def test_what_no_run_has_written_is_named_and_stays(tmp_path: Path) -> None:
    """The first such name of a folder, beside what is of an output."""
    for name in ("extractions", "run.json", "thesis.tex", "zoo"):
        (tmp_path / name).mkdir()

    with pytest.raises(OutputError, match=r"holds thesis\.tex, which no run has written"):
        run_output.check(request(tmp_path, overwrite=True), CONFIG)


def test_an_object_store_needs_a_folder_for_staging(tmp_path: Path) -> None:
    """Without one the output is refused; with one the plan says where the tables go, and the digest does not."""
    folder, bucket = request(tmp_path), replace(request(tmp_path), output="memory://bucket/out")
    staged = replace(bucket, staging=str(tmp_path))
    with pytest.raises(OutputError, match="give --staging DIR"):
        run_output.check(bucket, CONFIG)
    run_output.check(staged, CONFIG)

    assert ["output"] == [one.split()[0] for one in plan.differences(folder.plan(CONFIG), staged.plan(CONFIG))]
    assert folder.plan(CONFIG).digest == staged.plan(CONFIG).digest


def test_a_run_that_was_ended_before_it_began_is_no_hindrance(tmp_path: Path) -> None:
    """A folder for staging, and nothing said in it of what to do."""
    Path(staging.path(str(tmp_path), "pages")).mkdir(parents=True)

    run_output.check(request(tmp_path), CONFIG)
