"""The evidence stage gives what `pools.evidence` gives, whatever the partitions; nothing of a page's text travels."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dbce_spark.dbce import buckets, pools
from dbce_spark.dbce.pools import EvidenceModel
from dbce_spark.files import parquet
from dbce_spark.model import Codes, Page
from dbce_spark.output.schemas import evidence_rows, member_rows, page_rows
from dbce_spark.spark.run import staging
from dbce_spark.spark.stages.compare_pages import compared_pages, pool_evidence
from tests.support.evidence_pools import HOST, Echo, page_in
from tests.support.partitions import spread_over

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

CAP = 6
OTHER = "http://www.example.com"


def pages() -> list[Page]:
    """Two sites. A bucket over the cap, with a page of many captures; buckets that share members; a page with two
    buckets of as many URLs; one that was redesigned; captures of the same moments; pages without signature, without
    features, alone."""
    random = Random(7)
    made = [page_in([1, random.randrange(3), random.randrange(2)], f"large{nth}", lines=nth % 3) for nth in range(20)]
    made += [page_in([1, 0, 0], "large1", day, lines=day % 2) for day in range(2, 18)]
    made += [page_in([2, 5, random.randrange(2)], f"small{nth}", 3, OTHER) for nth in range(4)]
    made += [page_in([key, 9, key], f"guest{key}", 4) for key in (3, 3, 4, 5)]
    made += [page_in(bands, f"{bands[0]}-{bands[2]}") for bands in ([20, 21, 22], [20, 31, 32], [40, 41, 22])]
    made += [page_in([6, 6, 6], "redesigned", 1), page_in([7, 7, 7], "redesigned", 2), page_in([7, 8, 8], "new", 2)]
    made += [page_in(None, "plain", day) for day in (1, 2, 3)]
    made += [page_in(None, "moments", day, lines=lines) for day in range(1, 9) for lines in range(day % 3 + 1)]
    made += [page_in(None, "at once", lines=lines) for lines in range(3)]
    made += [replace(page_in([1, 0, 0], f"unseen{nth}"), features=None) for nth in range(2)]
    made.append(page_in([11, 11, 11], "alone"))
    return list({one.capture_id: one for one in made}.values())


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The output whose staged pages these are, in two files."""
    output = str(tmp_path_factory.mktemp("evidence"))
    made = pages()
    for file_no, some in enumerate((made[::2], made[1::2])):
        batch = page_rows.pages_batch(some, [None] * len(some), file_no=file_no, first_row=0)
        parquet.write(staging.staged_file(output, "pages", file_no), page_rows.PAGES, [batch])
    return output


def staged_pages(spark: "SparkSession", output: str) -> "DataFrame":
    return staging.read(spark, output, "pages", page_rows.PAGES)


def found(rows: "DataFrame") -> dict[tuple[str, int], list[list[int]]]:
    """Codes by capture and kind."""
    return {
        (row["capture_id"], row["kind"]): evidence_rows.codes_from(row).tolist() for row in rows.toArrow().to_pylist()
    }


def evidence(pages: "DataFrame", cap: int, load_model: Callable[[], EvidenceModel]) -> "DataFrame":
    return pool_evidence.evidence_of_pools(pool_evidence.pool_members(pages, cap), pages, load_model)


def expected(cap: int) -> dict[tuple[str, int], list[list[int]]]:
    of_kind: dict[tuple[str, int], Codes] = {}
    for capture_id, one in pools.evidence(pages(), cap, Echo).items():
        of_kind[capture_id, evidence_rows.SIBLINGS] = one.siblings
        of_kind[capture_id, evidence_rows.SNAPSHOTS] = one.snapshots
    return {key: codes.tolist() for key, codes in of_kind.items() if len(codes)}


@pytest.mark.parametrize(("partitions", "cap"), [(7, CAP), (3, 2), (1, 1000)])
def test_spark_pools_the_evidence_that_plain_python_pools(
    spark: "SparkSession", staged: str, partitions: int, cap: int
) -> None:
    """However the rows are spread, each capture has the same evidence of the same others."""
    with spread_over(spark, partitions):
        actual = found(evidence(staged_pages(spark, staged), cap, Echo))

    assert expected(cap) == actual


def test_the_pages_hold_all_that_is_to_be_tried() -> None:
    """There are buckets of several runs, guests, captures with one kind of evidence and with none."""
    some = pages()
    members = [*buckets.members(one for one in some if one.features)]
    kinds = [kind for _, kind in expected(CAP)]

    assert max(len(buckets.chunks(met, CAP)) for met in buckets.group_by_bucket(members).values()) > 2
    assert any({*wanted} < {*pool} for pool, wanted in pools.sibling_pools(members, CAP))
    assert {evidence_rows.SIBLINGS, evidence_rows.SNAPSHOTS} == set(kinds)
    assert len({capture_id for capture_id, _ in expected(CAP)}) < len(some)


def test_nothing_of_a_text_travels(spark: "SparkSession", staged: str) -> None:
    """Pools are sent ids, times and columns of fixed width."""
    sent = staged_pages(spark, staged).select(*compared_pages.feature_columns())

    assert ["capture_id", "url_key", "timestamp", "block_words", "first_scores", "keys"] == sent.columns
    by_id = {one.capture_id: one for one in pages() if one.features}
    for made in member_rows.page_features_from(sent.where("first_scores is not null").toArrow()):
        one = pools.page_features(by_id[made.capture_id])
        assert (one.url_key, one.timestamp) == (made.url_key, made.timestamp)
        for column in ("words", "link_words", "first_scores", "keys"):
            assert np.array_equal(getattr(one, column), getattr(made, column))


def test_only_captures_with_company_travel(spark: "SparkSession", staged: str) -> None:
    """Every row that is sent to a pool has another one there."""
    looked_at = staged_pages(spark, staged).where("first_scores is not null")
    members = (
        pool_evidence.siblings(looked_at, CAP)
        .unionByName(pool_evidence.snapshots(looked_at, CAP))
        .toArrow()
        .to_pylist()
    )
    alone = page_in([11, 11, 11], "alone").capture_id
    pools_of = [(row["kind"], row["site"], row["pool"]) for row in members]

    assert alone not in {row["capture_id"] for row in members}
    assert min(pools_of.count(pool) for pool in set(pools_of)) > 1


def test_without_features_there_is_no_evidence(spark: "SparkSession", tmp_path: Path) -> None:
    """Pages that no classifier has looked at give a table without rows, and no model is built."""
    some = [replace(page_in([1], url), features=None) for url in ("a", "b")]
    batch = page_rows.pages_batch(some, [None, None], file_no=0, first_row=0)
    parquet.write(staging.staged_file(str(tmp_path), "pages", 0), page_rows.PAGES, [batch])
    rows = evidence(staged_pages(spark, str(tmp_path)), CAP, pytest.fail)

    assert found(rows) == {}
    assert [field.name for field in rows.schema] == evidence_rows.EVIDENCE.names


def test_sites_do_not_hear_each_other(spark: "SparkSession", tmp_path: Path) -> None:
    """The same bands, and even the same URL key, of two sites are two pools."""
    some = [page_in([1], "a", host=HOST), page_in([1], "b", host=OTHER)]
    some.append(replace(some[0], capture_id="f" * 32, capture=replace(some[0].capture, site="example.net")))
    batch = page_rows.pages_batch(some, [None] * 3, file_no=0, first_row=0)
    parquet.write(staging.staged_file(str(tmp_path), "pages", 0), page_rows.PAGES, [batch])

    assert found(evidence(staged_pages(spark, str(tmp_path)), CAP, Echo)) == {}
