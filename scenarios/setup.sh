#!/usr/bin/env bash
# The set-up that scenarios/quickstart.sh, tests/run.sh and .ci/run share: sourced, it defines
#   install_packages GROUP...        installs what is missing of these groups (Debian 12)
#   build_preset PRESET [TARGET...]  configures if needed and builds, saying nothing if up to date
# Run on its own, `bash scenarios/setup.sh [GROUP...]` installs packages: build and tests by default.
# Progress goes to standard error, tools' output to log files in build/.
set -euo pipefail

root=$(CDPATH='' cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# The file that names the system; the tests of this script put another in its place.
os_release=${SHARDSCOPE_OS_RELEASE:-/etc/os-release}

# Every package the project uses, in one place: group, Debian's name, what it is elsewhere.
packages='
build  g++                  a C++20 compiler (GCC 12 or later)
build  cmake                CMake 3.25 or later
build  ninja-build          Ninja
build  pkg-config           pkg-config
build  ccache               ccache (optional)
build  libsimgrid-dev       SimGrid 3.32 or later, with headers
build  libprotobuf-dev      Protobuf, C++ runtime with headers
build  protobuf-compiler    Protobuf, the compiler protoc
build  libboost-graph-dev   Boost.Graph
build  libpugixml-dev       pugixml, with headers
build  libeigen3-dev        Eigen 3.4
build  libcli11-dev         CLI11
build  libjsoncpp-dev       JsonCpp, with headers
build  libyaml-cpp-dev      yaml-cpp, with headers
build  libjemalloc-dev      jemalloc, with headers
build  libjs-chart.js       Chart.js 3 (chart.min.js)
tests  libgtest-dev         GoogleTest
tests  libbenchmark-dev     Google Benchmark
tests  chromium             Chromium
tests  chromium-driver      ChromeDriver, of the same version
tests  python3              Python 3.9 or later
ci     clang-format         clang-format
ci     clang-tidy           clang-tidy
'

# stage LABEL LOG COMMAND...: one line with the time taken; the end of the log on failure.
stage() {
  local label=$1 log=$2 start=$SECONDS
  shift 2
  mkdir -p "$root/build"
  printf '%s ... ' "$label" >&2
  if "$@" 2>&1 </dev/null | tee "$log" | show_progress "$label"; then
    printf 'done, %d s\n' $((SECONDS - start)) >&2
  else
    printf 'failed. The end of %s:\n\n' "$log" >&2
    tail -n 40 "$log" >&2
    return 1
  fi
}

# On a terminal, Ninja's [12/80] behind the label.
show_progress() {
  local line
  while IFS= read -r line; do
    if [[ -t 2 && $line =~ ^\[([0-9]+/[0-9]+)\] ]]; then
      printf '\r%s ... %s \e[K' "$1" "${BASH_REMATCH[1]}" >&2
    fi
  done
}

install_packages() {
  local system group package meaning wanted=() list=
  while read -r group package meaning; do
    if [[ -n $group && " $* " == *" $group "* ]]; then
      wanted+=("$package")
      list+=$(printf '\n  %-36s (Debian: %s)' "$meaning" "$package")
    fi
  done <<<"$packages"

  # A subshell, because the file sets variables such as NAME and VERSION.
  system=$(unset ID VERSION_ID
           # shellcheck disable=SC1090
           . "$os_release" 2>/dev/null || true
           echo "${ID:-unknown} ${VERSION_ID:-}")
  if [[ $system != 'debian 12' ]]; then
    printf '%s\n' "This set-up knows Debian 12 alone; this system is: $system. Please install:" \
      "$list" '' 'Then: cmake --preset release && cmake --build --preset release' >&2
    return 1
  fi

  # dpkg-query fails if it does not know one of the names; that one is simply not listed.
  local installed missing=()
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true)
  for package in "${wanted[@]}"; do
    grep -qxF "$package installed" <<<"$installed" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  local as_root=()
  if (($(id -u) != 0)); then
    if ! command -v sudo >/dev/null; then
      echo 'Packages are missing, and there is neither root nor sudo. As root, run:' >&2
      echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  local what="${#missing[@]} packages"
  if ((${#missing[@]} == 1)); then what=${missing[0]}; fi
  stage "Installing $what" "$root/build/setup.log" apt_install "${missing[@]}"
}

# Uses as_root of install_packages.
apt_install() {
  # LC_ALL: a minimal system lacks the locale that the user's environment may name. The lock's
  # timeout: a new machine's own updates may be at work.
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
             apt-get -q -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3)
  local install=("${apt[@]}" install -y --no-install-recommends "$@")
  # A fresh container has no package lists; old lists name versions that the mirror has dropped.
  if compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
    "${install[@]}" && return
  fi
  "${apt[@]}" update && "${install[@]}"
}

build_preset() {
  local preset=$1 tree="$root/build/$1" log="$root/build/$1.log"
  shift
  local targets=("${@:-all}")
  # What ccache holds serves every clone, wherever it lies.
  local -x CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

  # CMake itself notices edited CMakeLists.txt, but neither edited presets nor a clone that has
  # been moved since (it would refuse that tree; --fresh forgets the old place).
  local home=
  if [[ -f $tree/CMakeCache.txt ]]; then
    home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$tree/CMakeCache.txt")
  fi
  if [[ ! $home -ef $root ]]; then
    stage "Configuring $preset" "$log" cmake --fresh -S "$root" --preset "$preset"
  elif [[ ! $root/CMakePresets.json -ot $tree/build.ninja ]]; then
    stage "Configuring $preset" "$log" cmake -S "$root" --preset "$preset"
  fi

  # Ask Ninja first, so that a second run says nothing.
  if [[ $(ninja -C "$tree" -n "${targets[@]}" 2>&1) == *'no work to do'* ]]; then return; fi
  stage "Building $preset" "$log" cmake --build "$tree" --target "${targets[@]}" -j "$(nproc)"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  install_packages "${@:-build tests}"
fi
