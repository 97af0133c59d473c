"""Labels and bits, as the thesis writes them."""

from dbce_spark.model import ARMS, Label, arm_bit, bits_text


def test_arms_make_the_bits_in_their_order() -> None:
    """Figure 2.7: (cur, up, down, prev, next), the first the highest."""
    expected = ["10000", "01000", "00100", "00010", "00001"]
    actual = [bits_text(arm_bit(arm)) for arm in ARMS]

    assert expected == actual


def test_labels_have_words() -> None:
    """The words stand in the tables."""
    assert [label.word for label in Label] == ["undecided", "content", "boilerplate"]
