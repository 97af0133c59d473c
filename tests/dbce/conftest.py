"""One small classifier, in a file, for all tests of this folder."""

import pytest

from dbce_spark.config import DbceConfig
from dbce_spark.dbce.classifier_file import save_classifier
from tests.support import small_classifier
from tests.support.builders import config


@pytest.fixture(scope="session")
def classifying(tmp_path_factory: pytest.TempPathFactory) -> DbceConfig:
    """Give the shipped parameters with the small classifier."""
    path = tmp_path_factory.mktemp("trained") / "small.npz"
    save_classifier(small_classifier.classifier(), path)
    return config(f"label.classifier={path}")
