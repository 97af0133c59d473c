"""`python -m dbce_spark.evaluation.node`: installs the packages of the extractors in JavaScript."""

import sys

from dbce_spark.errors import PlatformError
from dbce_spark.evaluation import node

if __name__ == "__main__":
    try:
        node.install()
    except PlatformError as error:
        sys.exit(str(error))
