"""What comparing captures gave, as staged rows. No Spark is started."""

from dataclasses import replace

import numpy as np

from dbce_spark.model import BucketCross
from dbce_spark.output.schemas import annotation_rows, evidence_rows
from dbce_spark.spark.run.compared_captures import Compared
from tests.support.builders import annotation, cross, page

CROSSES = [
    BucketCross(cross=cross(up="a"), bucket_id="k", bucket_urls=2, group="g"),
    BucketCross(cross=cross(up="b"), bucket_id="l", bucket_urls=3, group="h"),
]
CODES = [("cur", kind, np.array([[1, 2]], np.uint8)) for kind in (evidence_rows.SIBLINGS, evidence_rows.SNAPSHOTS)]


def compared(crosses: list[BucketCross], codes: list[tuple[str, int, np.ndarray]]) -> Compared:
    annotations = annotation_rows.annotations_batch([(one, annotation(one.cross, ["11000"])) for one in crosses])
    return Compared({"cur": annotations.to_pylist()}, {"cur": evidence_rows.evidence_batch(codes).to_pylist()})


def test_a_digest_does_not_depend_on_the_order_of_rows() -> None:
    """Spark brings them in any order, and a capture with the same evidence is not labelled anew."""
    assert compared(CROSSES, CODES).digest("cur") == compared(CROSSES[::-1], CODES[::-1]).digest("cur")


def test_a_digest_changes_with_what_labels_follow_from() -> None:
    """With the crosses and the evidence, and with the template that the crosses name."""
    of_other_template = [CROSSES[0], replace(CROSSES[1], bucket_id="m")]
    found = [
        compared(CROSSES, CODES),
        compared(CROSSES[:1], CODES),
        compared(CROSSES, CODES[:1]),
        compared(of_other_template, CODES),
    ]

    assert 4 == len({one.digest("cur") for one in found})


def test_times_are_those_of_the_page_and_of_all_that_share_its_extraction() -> None:
    """A page that was not fetched again has none."""
    again, once = page("<p>a</p>", url="http://a.example/1"), page("<p>b</p>", url="http://a.example/2")
    own = again.capture.timestamp
    found = Compared(seen={again.capture_id: {"first": own - 1, "last": own - 1, "revisits": 1}})

    times = found.fetch_times([again, once])

    assert {again.capture_id: (own - 1, own, 1)} == {
        key: (one.first, one.last, one.revisits) for key, one in times.items()
    }
