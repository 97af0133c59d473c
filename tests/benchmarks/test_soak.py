"""What the soak looks at, without the hours of it."""

from dataclasses import replace

from benchmarks.programs import soak
from benchmarks.programs.soak import Night
from tests.support.newsroom import newsroom

NIGHT = Night(
    night=1, seconds=9.0, ended="nothing", begun_again=0, pages=12, increment=1,
    acquire_bytes=1000, stream_bytes=1000, descriptors=100, disk=1000,
)  # fmt: skip


def test_what_grows_is_named() -> None:
    """By its peak behind the warm-up beside that before; a few nights tell nothing."""
    nights = [replace(NIGHT, night=at, acquire_bytes=1000 * at, disk=1000 + 10 * at) for at in range(1, 11)]

    assert ["acquire_bytes"] == soak.grown(nights)
    assert [] == soak.grown(nights[: soak.LEAST - 1])


def test_a_site_shows_the_stories_of_some_nights() -> None:
    """Each under an address of its own, with the same text whenever it is published."""
    with newsroom() as room:
        soak.publish(room, 2)
        before = dict(room.pages)
        soak.publish(room, 5)
        after = dict(room.pages)

    assert {*before} == {"/feed", *soak.paths(1), *soak.paths(2)}
    assert {*after} == {"/feed", *soak.paths(3), *soak.paths(4), *soak.paths(5)}
    assert len({*before.values()}) == len(before)
