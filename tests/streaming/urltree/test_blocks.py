"""Hash blocks: two blocks are the same to a tree if their letters are."""

import hashlib
from html import escape

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from dbce_spark.streaming.urltree.blocks import block_keys, letters
from tests.support.builders import parsed


def test_only_letters_count_and_not_their_case() -> None:
    """All characters but letters are dropped, and the rest is lower-cased, as in section 4 of the paper."""
    assert letters("Comments (12) · Größe_XL, 本 №5!") == "commentsgrößexl本".encode()


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_gives_what_all_texts_give(text: str) -> None:
    """The fast path for ASCII gives the same bytes as the general one, which a letter outside ASCII selects."""
    assert letters(f"{text}ß") == letters(text) + "ß".encode()


def test_blocks_with_the_same_letters_have_one_key() -> None:
    """A counter beside a word does not change the key of its block."""
    keys = block_keys(parsed("<p>Comments (12)</p><p>comments: 7</p><p>Comment</p>").blocks, "xxh3")

    assert (keys[0] == keys[1]).all()
    assert (keys[0] != keys[2]).any()


def test_line_breaks_within_a_block_do_not_count() -> None:
    """The lines of a <pre> are one block, and those around it keep their places."""
    wrapped = block_keys(parsed("<p>Menu</p><pre>One\ntwo\n\nthree</pre><p>Footer").blocks, "xxh3")

    assert (wrapped == block_keys(parsed("<p>Menu<p>One two three<p>Footer").blocks, "xxh3")).all()


@given(st.lists(st.text(min_size=1), min_size=1))
def test_keys_are_those_of_each_block_by_itself(texts: list[str]) -> None:
    """The key of a block does not depend on the blocks beside it."""
    blocks = parsed("".join(f"<p>x{escape(text)}</p>" for text in texts)).blocks
    each = (blocks.text[start:end] for start, end in zip(blocks.starts, blocks.ends, strict=True))
    separate = [block_keys(parsed(f"<p>{escape(text)}</p>").blocks, "xxh3") for text in each]

    assert np.concatenate(separate).tolist() == block_keys(blocks, "xxh3").tolist()


def test_inline_tags_do_not_cut_blocks() -> None:
    """Text within <em>, <a> and other inline tags belongs to the block around it."""
    inline = block_keys(parsed("<p>One <em>two</em> <a href=x>three</a></p>").blocks, "xxh3")

    assert (inline == block_keys(parsed("<p>One two three</p>").blocks, "xxh3")).all()


def test_md5_is_that_of_the_letters() -> None:
    """The key is the whole MD5 of the letters, 128 bits."""
    actual = block_keys(parsed("<p>One, two!</p>").blocks, "md5").tobytes()

    assert hashlib.md5(b"onetwo").digest() == actual


def test_shapes_are_blocks_by_words_of_the_key() -> None:
    """Keys of 64 bits have one word, keys of 128 bits two."""
    blocks = parsed("<p>One<p>Two<p>Three").blocks

    assert [(3, 1), (3, 2)] == [block_keys(blocks, name).shape for name in ("xxh3", "md5")]
    assert block_keys(blocks, "md5").dtype == np.uint64
