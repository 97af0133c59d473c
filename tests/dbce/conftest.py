"""One small classifier, in a file, for all tests of this folder."""

import pytest

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local, pages
from dbce_spark.dbce.classifier.classifier_file import save_classifier
from dbce_spark.model import Extraction, Page
from tests.support import small_classifier
from tests.support.builders import config


@pytest.fixture(scope="session")
def classifying(tmp_path_factory: pytest.TempPathFactory) -> DbceConfig:
    """Give the shipped parameters with the small classifier."""
    path = tmp_path_factory.mktemp("trained") / "small.npz"
    save_classifier(small_classifier.classifier(), path)
    return config(f"label.classifier={path}")


@pytest.fixture(scope="session")
def trained_pages(classifying: DbceConfig) -> list[Page]:
    """Parse some of the pages that the small classifier was trained on."""
    return [one for one in pages.parse_fetches(small_classifier.fetches(), classifying) if isinstance(one, Page)]


@pytest.fixture(scope="session")
def trained_extractions(trained_pages: list[Page], classifying: DbceConfig) -> list[Extraction]:
    return local.extract_pages(pages.unique(trained_pages), classifying)
