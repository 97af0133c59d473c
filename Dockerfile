# Two images: `dbce` for every role of a cluster and for a single machine, and `test`, which adds what the tests need.
FROM python:3.11-slim-bookworm AS base

# Spark needs Java 17 or newer. The version is the distribution's: a pinned one would be gone with the next security fix.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/dbce

# Dependencies first, by a package that is empty yet: Spark's 450 MB are not installed again for every change of the code.
COPY pyproject.toml setup.cfg ./
COPY dbce_spark/__init__.py dbce_spark/
RUN pip install --no-cache-dir '/opt/dbce[acquire,s3,stream]'

COPY README.md ./
COPY conf conf
COPY dbce_spark dbce_spark
COPY jobs jobs
RUN pip install --no-cache-dir --no-deps --force-reinstall . \
    && useradd --create-home --uid 1000 dbce \
    && mkdir -p /archives /acquired/archives /acquired/state /output /events /work \
    && chown -R dbce /acquired /output /events /work

# Where Spark's own scripts look for spark-defaults.conf and log4j2.properties.
ENV SPARK_CONF_DIR=/opt/dbce/conf \
    PYSPARK_PYTHON=/usr/local/bin/python \
    SPARK_WORKER_DIR=/work

# The tests, and all that they look at.
FROM base AS test
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends chromium fonts-dejavu-core iproute2 make \
    && rm -rf /var/lib/apt/lists/*
RUN pip install --no-cache-dir '/opt/dbce[bench,dev,docs,evaluate,java,train]'
COPY --chown=1000 . .
RUN chown 1000 /opt/dbce
USER 1000
CMD ["python", "-m", "pytest"]

# What `docker build` makes: the last.
FROM base AS dbce
# The number, not the name: an engine can check that it is not root.
USER 1000
WORKDIR /output
CMD ["dbce", "--help"]
