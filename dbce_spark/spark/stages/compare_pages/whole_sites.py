"""The strategy for sites that one worker can hold: each is compared whole, in one place.

Most sites are such. All that their pages give each other then takes one shuffle, where large sites take several; the
rows are the same. No text travels, and no HTML.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import sites
from dbce_spark.dbce.buckets import BucketSizes
from dbce_spark.model import Annotation, BucketCross, Codes
from dbce_spark.output.schemas import annotation_rows, comparison_rows, evidence_rows, member_rows
from dbce_spark.output.schemas.codec import PLACE
from dbce_spark.spark.engine.batches import rows_of
from dbce_spark.spark.run import staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.stage_counts import ComparedSites
from dbce_spark.spark.run.task_tables import TaskTables
from dbce_spark.spark.stages.compare_pages import compared_pages, site_tasks

NAME = "sites"
SCHEMAS = {
    staging.PAGE_ANNOTATIONS: comparison_rows.PAGE_ANNOTATIONS,
    staging.PAGE_EVIDENCE: comparison_rows.PAGE_EVIDENCE,
}
"""The tables that this stages."""
_BATCH_ROWS, _BATCH_BYTES = 256, 64 << 20
"""Annotations and evidence that wait to be staged, until they are so many or have so many bytes."""

_Place = tuple[int, int]


def compare(run: Run) -> ComparedSites:
    """Stage the annotations and the evidence of the pages of whole sites; the others are staged."""
    pages = compared_pages.of_whole_sites(run).select("site", *PLACE, *compared_pages.neighbour_columns())
    sizes = site_tasks.by_site(run, pages, SCHEMAS, compare_sites)
    return ComparedSites(sizes, has_grown=compared_pages.has_grown(run), has_large=compared_pages.has_large(run))


def compare_sites(all_sites: Iterator[pa.Table], tables: TaskTables, config: DbceConfig) -> BucketSizes:
    """Stage the results of `dbce.sites.compare_site` for the sites of one task; return their bucket sizes."""
    rows, sizes = ComparedRows(), BucketSizes()
    for site in all_sites:
        if site.num_rows == 1:  # there is nothing to compare it with
            continue
        compared = sites.compare_site(member_rows.neighbours_from(site), config)
        rows.add(compared, site)
        sizes += compared.sizes
        if rows.are_many():
            rows.write(tables)
            rows = ComparedRows()
    rows.write(tables)
    return sizes


@dataclass(slots=True)
class ComparedRows:
    """Annotations and evidence of some captures, with the places where these are staged."""

    annotations: list[tuple[_Place, tuple[BucketCross, Annotation]]] = field(default_factory=list)
    evidence: list[tuple[_Place, tuple[str, int, Codes]]] = field(default_factory=list)

    def are_many(self) -> bool:
        """Return whether they are to be staged before more are added."""
        codes = sum(codes.nbytes for _, (_, _, codes) in self.evidence)
        runs = sum(one.ends.nbytes + one.bits.nbytes for _, (_, one) in self.annotations)
        return len(self.annotations) + len(self.evidence) >= _BATCH_ROWS or codes + runs >= _BATCH_BYTES

    def add(self, compared: sites.SiteComparison, site: pa.Table) -> None:
        place_of = {one: (file_no, row_no) for one, file_no, row_no in rows_of(site, ("capture_id", *PLACE))}
        for found, annotation in zip(compared.crosses, compared.annotations, strict=True):
            self.annotations.append((place_of[found.cross.cur], (found, annotation)))
        by_kind = {
            evidence_rows.SIBLINGS: compared.evidence.by_siblings,
            evidence_rows.SNAPSHOTS: compared.evidence.by_snapshots,
        }
        for kind, by_capture in by_kind.items():
            self.evidence += [(place_of[one], (one, kind, codes)) for one, codes in by_capture.items()]

    def write(self, tables: TaskTables) -> None:
        if self.annotations:
            places, annotations = zip(*self.annotations, strict=True)
            rows = annotation_rows.annotations_batch(annotations)
            tables.write(staging.PAGE_ANNOTATIONS, comparison_rows.placed_batch(places, rows))
        if self.evidence:
            places, codes = zip(*self.evidence, strict=True)
            rows = evidence_rows.evidence_batch(codes)
            tables.write(staging.PAGE_EVIDENCE, comparison_rows.placed_batch(places, rows))
