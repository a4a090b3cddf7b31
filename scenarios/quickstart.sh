#!/usr/bin/env bash
# Installs what is missing, builds Shardscope and runs its first scenario. Arguments go to
# `shardscope run`: bash scenarios/quickstart.sh --strategy ZERO3 --set training.steps=5
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

# The tests' libraries too: the release preset that tests/run.sh shares configures with them.
install_packages build tests
build_preset release shardscope
exec "$root/build/release/bin/shardscope" run "$root/scenarios/quickstart.textproto" "$@"
