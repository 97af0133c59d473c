"""The real job over gold pages is held to the plain method on the same pages."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from dbce_spark.config import DbceConfig, load
from dbce_spark.errors import JobError
from dbce_spark.evaluation.datasets import GoldPage, siblings, snapshots
from dbce_spark.evaluation.extracting import joint_extractors, spark_run
from dbce_spark.evaluation.extracting.joint_extractors import Setting
from tests.support.builders import CONFIG, config
from tests.support.fake_extractors import gold_pages, line, own_set

# Fewer neighbours than with the shipped parameters, and a bucket that is cut.
SETTINGS = config("cross.per_capture=1", "bucket.cap=4", 'lsh.threshold_by_site={"harbour.example" = 0.9}')


def pages(folder: Path) -> list[GoldPage]:
    """A site of two eras with a snapshot in each, pages of no site, one twice, and two that are no page."""
    eras = [
        {**fields, "id": f"{fields['id']}@{year}", "group": f"harbour@{year}", "date": f"{year}0102", "html": html}
        for year in (2005, 2006)
        for fields in own_set()[:4]
        for html in [fields["html"].replace("no anchors", f"no anchors since {year}")]
    ]
    twins = [{**own_set()[4], "id": name, "site": "twin.example", "url_key": "twin"} for name in ("twin-1", "twin-2")]
    return gold_pages(
        folder, [*eras, *own_set()[4:], *twins, line("wordless", "<script>1</script>"), line("empty", " ")]
    )


def together(given: list[GoldPage], settings: DbceConfig) -> dict[str, str]:
    setting = Setting(config=settings, time_limit=1.0, workers=1, folds="", advance=lambda _: None)
    return {name: one.text for name, one in joint_extractors.together(given, setting).items()}


@pytest.mark.spark
def test_the_job_gives_the_texts_of_the_plain_method(tmp_path: Path) -> None:
    """Page by page, on a set with siblings, snapshots and duplicates; rejected pages are misses with their reason."""
    given = pages(tmp_path)
    done: list[int] = []
    found = spark_run.extract(given, config=SETTINGS, advance=done.append)
    assert (3, 1) == (max(siblings(given).values()), max(snapshots(given).values()))
    assert together(given, SETTINGS) == {name: one.text for name, one in found.items()}
    assert {
        "wordless": "no_text: no word outside scripts, styles and forms",
        "empty": "empty_payload: 1 byte of white space",
    } == {name: one.error for name, one in found.items() if one.error}
    assert [len(given)] == done
    assert all(one.seconds > 0 for one in found.values())


def test_the_job_gets_the_parameters_of_the_run(tmp_path: Path) -> None:
    """All of them, as they are: what is written for it is read as what was given."""
    (tmp_path / "dbce.toml").write_text(spark_run.as_toml(SETTINGS))
    assert SETTINGS != CONFIG
    assert SETTINGS == load(str(tmp_path / "dbce.toml"))


def test_no_pages_need_no_job() -> None:
    """An empty set is done at once."""
    assert {} == spark_run.extract([], config=CONFIG, advance=lambda _: None)


def test_a_job_that_fails_is_reported_with_its_error_output(tmp_path: Path) -> None:
    """The last line of the command's errors is in the error."""
    wrong = replace(CONFIG, label=replace(CONFIG.label))
    # Past the check that the command makes again.
    object.__setattr__(wrong.label, "by", "T009")
    with pytest.raises(JobError, match=r"dbce extract ended with status 2: dbce: label\.by is 'T009'"):
        spark_run.extract(pages(tmp_path), config=wrong, advance=lambda _: None)


def test_a_path_beyond_16_bits_reaches_the_job() -> None:
    """JSON would write such a letter as two halves, which TOML refuses."""
    label = replace(CONFIG.label, classifier="/data/\U0001f33f.npz")

    assert label.classifier == tomllib.loads(spark_run.as_toml(replace(CONFIG, label=label)))["label"]["classifier"]
