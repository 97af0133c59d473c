"""Run the simulated day by DBCE with a few documents."""

from benchmarks.programs import stream_day
from dbce_spark import config
from tests.support.urltree_documents import config as tree_config


def test_states_stop_growing_when_their_sites_are_full() -> None:
    """Pools of four pages are full in the first batch; from then on states have the same size, but for numbers that
    take a digit more."""
    parameters = config.load(settings=["stream.by=dbce", "stream.pool_pages=4", "stream.relabel_pages=[2, 4]"])
    tree = tree_config("window.max_documents=20", "window.min_documents=10")
    sizes = [mark.states for mark in stream_day.marks(300, parameters, tree)]

    assert 3 == len(sizes)
    assert max(sizes) < 1.01 * sizes[0]
