#!/usr/bin/env bash
# Installs what is missing, builds everything and runs the tests:
#   bash tests/run.sh [PRESET] [CTEST ARGUMENT...]    (the preset is release if none is given)
# For example: bash tests/run.sh sanitize -R collectives
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../scenarios/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scenarios/setup.sh"

preset=release
if [[ ${1:--} != -* ]]; then
  preset=$1
  shift
fi

install_packages build tests
build_preset "$preset"
cd "$root"
exec ctest --preset "$preset" -j "$(nproc)" --no-tests=error "$@"
