#!/usr/bin/env bash
# On every machine of a Dataproc cluster, before Hadoop starts. The metadata of the cluster name the share to mount.
set -euo pipefail

share=$(/usr/share/google/get_metadata_value attributes/dbce-share)
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends python3.11 openjdk-17-jre-headless nfs-common
mkdir -p /mnt/dbce
mount --types nfs "$share" /mnt/dbce
# Containers run as other users than who submits.
chmod 1777 /mnt/dbce
