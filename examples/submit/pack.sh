#!/usr/bin/env bash
# Packs Spark, this package and all that it needs into two archives for clusters that have neither:
#
#   examples/submit/pack.sh FOLDER [PACKAGE...]      writes FOLDER/environment.tar.gz and FOLDER/spark-jars.zip
#
# A PACKAGE is one more to be installed, such as gcsfs, for outputs under gs://.
# PYTHON (python3.11) names the interpreter. The archive does not hold it: the same must be at the same path on every machine.
set -euo pipefail

folder=${1:?give a folder for the archives}
shift
python=${PYTHON:-python3.11}
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

mkdir -p "$folder"
environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT
"$python" -m venv "$environment/venv"
"$environment/venv/bin/python" -m pip install --quiet --upgrade pip
"$environment/venv/bin/python" -m pip install --quiet "${project}[s3,spark]" venv-pack2 "$@"

# YARN hands Java's part of Spark to every container by itself, and keeps it between runs.
jars=$("$environment/venv/bin/python" -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent / "jars")')
"$environment/venv/bin/python" -m zipfile -c "$folder/spark-jars.zip" "$jars"/*.jar

"$environment/venv/bin/venv-pack" --quiet --force --prefix "$environment/venv" --output "$folder/environment.tar.gz"
ls -l "$folder/environment.tar.gz" "$folder/spark-jars.zip"
