"""Find templates of the crawl before that no pages are built by any more, whatever the ids of templates are now."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from heapq import nsmallest
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.config import LshConfig
from dbce_spark.model import Signature
from dbce_spark.output import current_rows
from dbce_spark.output.collection import MEMBERS, Collection, Version
from dbce_spark.output.history.crawl_anomalies import Figures, Template
from dbce_spark.output.schemas.page_rows import SIGNATURE
from dbce_spark.report.crawl_figures import Crawl, Crawls

OF_TEMPLATE, OF_SITE = 16, 1_000
"""Pages that stand for a template, and for what its site has now."""
_ROWS = 4096
Key = TypeVar("Key", str, Template)


def lost_templates(
    candidates: Sequence[Template], crawls: Crawls, figures_before: Figures, remains: float
) -> list[Template]:
    """Select the templates that too few pages of the last crawl are like, siblings by their signatures: a smaller share
    of its site's pages than `remains` of the share before."""
    if not candidates or crawls.before is None:
        return []
    sites = pa.array(sorted({site for site, _ in candidates}))
    names = {*candidates}
    was = _drawn(crawls.before, sites, OF_TEMPLATE, lambda row: (row["site"], row["template_id"]))
    has = _drawn(crawls.now, sites, OF_SITE, lambda row: row["site"])
    wanted = {one for template, ids in was.items() if template in names for one in ids}.union(*has.values())
    signatures = _signatures(crawls.collection, crawls.version, sites, wanted)
    settings = LshConfig(**crawls.version.settings["config"]["lsh"])
    found = []
    for site, name in candidates:
        likenesses = [signatures[one] for one in was[site, name] if one in signatures]
        pages = [signatures.get(one) for one in has[site]]
        alike = sum(page is not None and _is_like(page, likenesses, settings.threshold_of(site)) for page in pages)
        share = figures_before.templates[site, name] / figures_before.sites[site].captures
        if alike < remains * share * len(pages):
            found.append((site, name))
    return found


def _drawn(crawl: Crawl, sites: pa.Array, count: int, key: Callable[[Mapping[str, str]], Key]) -> dict[Key, list[str]]:
    """List the first capture ids of each kind of pages of some sites: they are digests, and so as good as random."""
    found: dict[Key, list[str]] = defaultdict(list)
    for batch, _ in crawl.fetched(["capture_id", "site", "template_id"]):
        rows = batch.filter(pc.is_in(batch.column("site"), sites)).to_pylist()
        for row in rows:
            found[key(row)].append(row["capture_id"])
        for one in {key(row) for row in rows}:
            found[one] = nsmallest(count, found[one])
    return found


def _signatures(collection: Collection, version: Version, sites: pa.Array, wanted: set[str]) -> dict[str, Signature]:
    """Read the signatures of some pages of some sites, without pages that are too small to have one."""
    found = {}
    ids = pa.array(sorted(wanted))
    members = current_rows.table_files(collection, version, MEMBERS)
    for batch in members.batches(["capture_id", "site", "signature"], rows=_ROWS):
        rows = batch.filter(pc.is_in(batch.column("site"), sites))
        for row in rows.filter(pc.is_in(rows.column("capture_id"), ids)).to_pylist() if len(rows) else ():
            if row["signature"]:
                found[row["capture_id"]] = np.frombuffer(row["signature"], SIGNATURE)
    return found


def _is_like(page: Signature, others: Sequence[Signature], threshold: float) -> bool:
    return any(float(np.mean(page == one)) >= threshold for one in others)
