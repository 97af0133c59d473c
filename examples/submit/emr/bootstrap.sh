#!/usr/bin/env bash
# On every machine of an EMR cluster, before Hadoop starts: bootstrap.sh FILE_SYSTEM_ID
set -euo pipefail

sudo dnf install --assumeyes python3.11 java-17-amazon-corretto-headless amazon-efs-utils
sudo mkdir -p /mnt/dbce
sudo mount --types efs --options tls "$1:/" /mnt/dbce
# Containers run as other users than the step.
sudo chmod 1777 /mnt/dbce
