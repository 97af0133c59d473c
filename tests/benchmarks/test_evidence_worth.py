"""The worth of evidence, compared page by page in draws of sites."""

from pathlib import Path

import pandas as pd

from benchmarks.programs import evidence_worth


def test_pages_without_a_site_are_drawn_one_by_one(tmp_path: Path) -> None:
    """They are not pages of one site, of which nothing could be said."""
    folders = []
    for name, f1 in (("first", 0.5), ("second", 0.7)):
        of_pages = [
            {"dataset": "made", "page_id": f"{at}", "site": "", "page_type": "", "siblings": 0, "f1": f1 + at / 100}
            for at in range(20)
        ]
        folder = tmp_path / name
        folder.mkdir()
        pd.DataFrame(of_pages).assign(metric="rouge_l").to_parquet(folder / "scores.parquet")
        folders.append(str(folder))

    assert "| all | 20 | 0.5950 | +0.2000 (+0.2000 to +0.2000) |" == next(evidence_worth.compare(folders))
