"""Features of a segment: its words, its place in the DOM, how it looks (KrdWrd 2.2.3)."""

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
"""(segments, features) of one page."""
