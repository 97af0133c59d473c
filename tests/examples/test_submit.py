"""Checks of the recipes for clusters without any: manifests, settings, and commands up to the cluster."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyspark
import pytest
import yaml

ROOT = Path(__file__).parents[2]
SUBMIT = ROOT / "examples/submit"
MANIFEST = SUBMIT / "kubernetes/dbce.yaml"
BIN = Path(sys.executable).parent
DEFAULTS = ROOT / "conf/spark-defaults.conf"
SETTING = re.compile(r"(?<![\w.])spark\.[a-z]\w*(?:\.\w+)+")
NAMED_BY_USER = (
    "spark.executorEnv.",
    "spark.yarn.appMasterEnv.",
    "spark.kubernetes.executor.volumes.",
    "spark.hadoop.",
)
"""Prefixes of settings whose rest is no name of Spark's."""


def manifests() -> dict[tuple[str, str], dict[str, Any]]:
    """Read the objects for Kubernetes, by kind and name."""
    documents = (one for one in yaml.safe_load_all(MANIFEST.read_text()) if one is not None)
    return {(one["kind"], one["metadata"]["name"]): one for one in documents}


def driver() -> dict[str, Any]:
    """Return the container in which the batch runs."""
    job = manifests()["CronJob", "dbce"]["spec"]["jobTemplate"]["spec"]
    (container,) = job["template"]["spec"]["containers"]
    found: dict[str, Any] = container
    return found


def sizing() -> dict[str, str]:
    """Return the settings of sizing.sh, as a shell makes them."""
    script = f'. {SUBMIT}/sizing.sh; printf "%s\\n" "${{SIZING[@]}}"'
    printed = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, check=True).stdout
    return dict(line.split("=", 1) for line in printed.splitlines() if line != "--conf")


def gigabytes(text: str) -> int:
    return int(text.removesuffix("g"))


def test_kubernetes_takes_the_manifests() -> None:
    """Every object is valid by the schemas of Kubernetes, and has nothing that they do not know."""
    done = subprocess.run(
        [BIN / "kubernetes-validate", "--strict", "--quiet", MANIFEST], capture_output=True, text=True, check=False
    )

    assert (0, "") == (done.returncode, done.stdout)


def test_manifests_are_clean_yaml() -> None:
    """yamllint finds nothing in them."""
    rules = "{extends: default, rules: {line-length: {max: 130}}}"
    done = subprocess.run(
        [BIN / "yamllint", "--strict", "-d", rules, MANIFEST], capture_output=True, text=True, check=False
    )

    assert (0, "") == (done.returncode, done.stdout)


def test_image_for_kubernetes_is_clean() -> None:
    """hadolint finds nothing in its Dockerfile, and all that it copies is in the folder that it is built from."""
    dockerfile = SUBMIT / "kubernetes/Dockerfile"
    done = subprocess.run([BIN / "hadolint", dockerfile], capture_output=True, text=True, check=False)
    (copy,) = (line for line in dockerfile.read_text().splitlines() if line.startswith("COPY "))

    assert (0, "") == (done.returncode, done.stdout)
    assert [] == [name for name in copy.split()[1:-1] if not (ROOT / "examples" / name).is_file()]


def test_the_batch_in_kubernetes_has_all_its_settings() -> None:
    """A pod has each of batch.env's settings in its environment, and the script reads no other."""
    lines = (ROOT / "examples/batch.env").read_text().splitlines()
    wanted = {line.partition("=")[0] for line in lines if line.startswith("DBCE_")}
    given = {*manifests()["ConfigMap", "dbce-batch"]["data"], *(one["name"] for one in driver()["env"])}

    assert wanted <= given
    assert {name for name in given if name.startswith("DBCE_")} <= wanted


def test_kubernetes_has_the_figures_of_sizing() -> None:
    """The figures are written twice, for shells and for pods, and are the same."""
    lines = manifests()["ConfigMap", "dbce-spark"]["data"]["spark.conf"].splitlines()
    in_pods = dict(line.split() for line in lines)
    # The driver's pod is the batch's own, and sets its memory itself.
    shared = {name: value for name, value in sizing().items() if name != "spark.driver.memoryOverhead"}

    assert shared == {name: value for name, value in in_pods.items() if name in shared}


def test_an_executor_has_the_documented_size() -> None:
    """It has 24 GB, of which each Python worker has its share by conf/spark-defaults.conf."""
    size = sizing()
    parts = [size[f"spark.executor.{name}"] for name in ("memory", "pyspark.memory", "memoryOverhead")]
    of_a_worker = re.search(r"^spark\.executor\.pyspark\.memory\s+(\S+)", DEFAULTS.read_text(), re.MULTILINE)

    assert 24 == sum(map(gigabytes, parts))
    assert of_a_worker is not None
    assert gigabytes(of_a_worker[1]) * int(size["spark.executor.cores"]) == gigabytes(parts[1])


def test_spark_knows_every_setting() -> None:
    """Every name of a setting in the recipes stands in Spark's own classes."""
    text = "\n".join(file.read_text() for file in SUBMIT.rglob("*") if file.suffix in (".sh", ".yaml"))
    named = {name for name in SETTING.findall(text) if not name.startswith(NAMED_BY_USER)} - {"spark.conf"}
    jars = Path(pyspark.__file__).parent.glob("jars/spark-*.jar")
    left = {name.encode() for name in named}
    for jar in jars:
        with ZipFile(jar) as classes:
            for entry in classes.namelist():
                content = classes.read(entry) if left and entry.endswith(".class") else b""
                left -= {name for name in left if name in content}

    assert len(named) > 15
    assert set() == left


def spark_environment(**more: str) -> dict[str, str]:
    from dbce_spark.spark.engine.java import java_home

    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "JAVA_HOME": java_home(), "SPARK_LOCAL_IP": "127.0.0.1", **more}


@pytest.mark.spark
def test_spark_submit_understands_the_command_for_yarn(tmp_path: Path) -> None:
    """A real spark-submit takes all words of the recipe, and fails only since no YARN answers."""
    (tmp_path / "conf").mkdir()
    unanswered = {"yarn.resourcemanager.address": "127.0.0.1:9", "yarn.resourcemanager.connect.max-wait.ms": "1"}
    (tmp_path / "conf/yarn-site.xml").write_text(hadoop_settings({**unanswered, "ipc.client.connect.max.retries": "0"}))
    submit = tmp_path / "spark-submit"
    submit.write_text(f'#!/bin/sh\nexec {shlex.quote(str(BIN / "spark-submit"))} --verbose "$@"\n')
    submit.chmod(0o755)
    environment = spark_environment(
        ENVIRONMENT=sys.prefix,
        ARCHIVES=f"file://{tmp_path}",
        HADOOP_CONF_DIR=str(tmp_path / "conf"),
        SPARK_SUBMIT=str(submit),
    )
    command = [
        str(SUBMIT / "yarn.sh"),
        "s3://crawl/2026",
        "--output",
        "s3://extracted/2026",
        "--staging",
        "/mnt/dbce/2026",
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    printed = done.stdout + done.stderr

    assert re.search(r"master +yarn", printed), printed
    assert re.search(r"deployMode +cluster", printed)
    assert re.search(rf"archives +file://{tmp_path}/environment.tar.gz#environment", printed)
    assert re.search(r"childArgs +\[s3://crawl/2026 --output s3://extracted/2026 --staging /mnt/dbce/2026\]", printed)
    assert 0 != done.returncode
    assert "ConnectException" in printed


def hadoop_settings(settings: dict[str, str]) -> str:
    properties = (f"<property><name>{name}</name><value>{value}</value></property>" for name, value in settings.items())
    return f"<configuration>{''.join(properties)}</configuration>"


@pytest.mark.spark
def test_an_executor_of_kubernetes_begins() -> None:
    """The pod's first command starts Spark's own executor, which takes all it is given and misses only its driver."""
    given = {
        "SPARK_DRIVER_URL": "spark://CoarseGrainedScheduler@127.0.0.1:9",
        "SPARK_EXECUTOR_CORES": "1",
        "SPARK_EXECUTOR_ID": "1",
        "SPARK_EXECUTOR_MEMORY": "512m",
        "SPARK_EXECUTOR_POD_IP": "127.0.0.1",
        "SPARK_EXECUTOR_POD_NAME": "executor-1",
        "SPARK_APPLICATION_ID": "app",
        "SPARK_RESOURCE_PROFILE_ID": "0",
        "SPARK_JAVA_OPT_0": "-Dspark.rpc.numRetries=1",
        "SPARK_JAVA_OPT_1": "-Dname=with a space",
    }
    command = [str(SUBMIT / "kubernetes/entrypoint.sh"), "executor"]
    done = subprocess.run(command, env=spark_environment(**given), capture_output=True, text=True, check=False)
    printed = done.stdout + done.stderr

    assert 0 != done.returncode
    assert "Failed to connect to /127.0.0.1:9" in printed, printed


def test_any_other_command_of_a_pod_is_run_as_it_is() -> None:
    """The driver's pod runs the batch by the same entry point."""
    done = subprocess.run(
        [SUBMIT / "kubernetes/entrypoint.sh", "echo", "two words", "three"], capture_output=True, text=True, check=True
    )

    assert "two words three\n" == done.stdout
