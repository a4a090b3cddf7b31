#!/usr/bin/env bash
# Tests scenarios/setup.sh and the two commands that use it: bash tests/e2e/setup_test.sh
# They run in a copy of the scripts (its path has a space) around a tiny project without a compiler,
# and with stubs for apt-get, dpkg-query, id and sudo: nothing is installed.
set -euo pipefail

source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
clone="$work/a clone"
stubs="$work/stubs"
tools="$work/tools"
mkdir -p "$clone/scenarios" "$clone/tests" "$stubs" "$tools"
cp "$source_root"/scenarios/{setup,quickstart}.sh "$clone/scenarios"
cp "$source_root/tests/run.sh" "$clone/tests"
cp "$source_root/CMakePresets.json" "$clone"

# What a stub answers lies in $work: installed (lines of dpkg-query), uid, apt_fails (if it exists).
# calls is the record of apt-get's arguments.
export STUB_DATA=$work
write_stub() {
  { echo '#!/usr/bin/env bash'; cat; } >"$stubs/$1"
  chmod +x "$stubs/$1"
}
write_stub dpkg-query <<'STUB'
cat "$STUB_DATA/installed"
exit 1
STUB
write_stub id <<'STUB'
cat "$STUB_DATA/uid"
STUB
write_stub sudo <<'STUB'
echo sudo >>"$STUB_DATA/calls"
exec "$@"
STUB
write_stub apt-get <<'STUB'
echo "$*" >>"$STUB_DATA/calls"
for i in {1..100}; do echo "line $i of apt-get"; done
[[ ! -e $STUB_DATA/apt_fails ]]
STUB
# Nothing else of the real system is in reach, so that a real sudo is not found either.
for tool in bash cat dirname env grep mkdir tail tee; do
  ln -s "$(command -v "$tool")" "$tools/$tool"
done

printf 'ID=debian\nVERSION_ID="12"\n' >"$work/debian12"
printf 'NAME=Other\nID=ubuntu\nVERSION_ID="24.04"\n' >"$work/ubuntu"
printf 'ID=debian\n' >"$work/debian_testing"

build_group='g++ cmake ninja-build pkg-config ccache libsimgrid-dev libprotobuf-dev protobuf-compiler
  libboost-graph-dev libpugixml-dev libeigen3-dev libcli11-dev libjsoncpp-dev
  libyaml-cpp-dev libjemalloc-dev libjs-chart.js'
all_packages="$build_group libgtest-dev libbenchmark-dev chromium chromium-driver python3"

# installed PACKAGE...: from now on dpkg-query knows these.
installed() { printf '%s installed\n' "$@" >"$work/installed"; }

# run COMMAND...: sets output (both streams), code and calls.
run() {
  : >"$work/calls"
  code=0
  output=$(cd / && "$@" 2>&1) || code=$?
  calls=$(<"$work/calls")
}
setup() {  # on the system $os, with nothing but stubs and tools in PATH
  run env PATH="$stubs:$tools" SHARDSCOPE_OS_RELEASE="$work/$os" \
    bash "$clone/scenarios/setup.sh"
}

failures=0
check() {  # check WHAT CONDITION...
  local what=$1
  shift
  if ! "$@"; then
    printf 'FAILED: %s\n  exit code %s, apt-get calls:\n%s\n  output:\n%s\n' \
      "$what" "$code" "$calls" "$output"
    failures=$((failures + 1))
  fi
}
has() { [[ $1 == *"$2"* ]]; }
lacks() { ! has "$@"; }
code_is() { ((code == $1)); }

echo 0 >"$work/uid"

for os in ubuntu debian_testing no_such_file; do
  installed nothing
  setup
  check "$os: refused" code_is 1
  check "$os: apt-get is not called" [ -z "$calls" ]
  for package in $all_packages; do
    check "$os: $package is listed" has "$output" "(Debian: $package)"
  done
  check "$os: general names are listed" has "$output" 'Google Benchmark'
  check "$os: packages of other groups are not" lacks "$output" 'clang-tidy'
done
os=debian12

# shellcheck disable=SC2086  # a list of words
installed $all_packages
setup
check 'all is there: passes' code_is 0
check 'all is there: nothing is installed' [ -z "$calls" ]
check 'all is there: nothing is said' [ -z "$output" ]

# "Removed, configuration kept" is not installed; nor does another package's name stand for this.
# shellcheck disable=SC2086
installed $build_group chromium chromium-driver python3 libbenchmark-dev-more other-libgtest-dev
sed -i 's/^ccache installed$/ccache config-files/' "$work/installed"
setup
check 'some are missing: passes' code_is 0
check 'some are missing: one line says so' has "$output" 'Installing 3 packages ... done, '
check 'some are missing: only they are asked for' \
  grep -qE 'install -y --no-install-recommends ccache libgtest-dev libbenchmark-dev$' "$work/calls"
check 'some are missing: output goes to the log' \
  grep -q 'line 1 of apt-get' "$clone/build/setup.log"
check 'some are missing: output stays off the screen' lacks "$output" 'line 1 of apt-get'

touch "$work/apt_fails"
setup
check 'apt-get fails: so does the set-up' code_is 1
check 'apt-get fails: lists are fetched before the last attempt' has "$calls" ' update'
check 'apt-get fails: the end of the log' has "$output" 'line 100 of apt-get'
check 'apt-get fails: only the end' lacks "$output" 'line 1 of apt-get'
check 'apt-get fails: the log is named' has "$output" "$clone/build/setup.log"
rm "$work/apt_fails"

echo 1000 >"$work/uid"
setup
check 'a user with sudo: passes' code_is 0
check 'a user with sudo: through sudo' has "$calls" sudo

mv "$stubs/sudo" "$work/sudo_away"
setup
check 'neither root nor sudo: refused' code_is 1
check 'neither root nor sudo: nothing is called' [ -z "$calls" ]
check 'neither root nor sudo: the command to type' has "$output" \
  'apt-get update && apt-get install -y --no-install-recommends ccache libgtest-dev libbenchmark-dev'

# The two commands. `shardscope` of this project is a copy of program.sh.
# shellcheck disable=SC2086
installed $all_packages
cat >"$clone/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.25)
project(tiny LANGUAGES NONE)
set(program ${CMAKE_BINARY_DIR}/bin/shardscope)
add_custom_command(OUTPUT ${program} DEPENDS ${CMAKE_SOURCE_DIR}/program.sh VERBATIM
  COMMAND sh -n ${CMAKE_SOURCE_DIR}/program.sh
  COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/program.sh ${program})
add_custom_target(shardscope ALL DEPENDS ${program})
enable_testing()
add_test(NAME good COMMAND ${program})
add_test(NAME bad COMMAND ${program} fail)
PROJECT
cat >"$clone/program.sh" <<'PROGRAM'
#!/usr/bin/env bash
printf '<%s>' "$@"
[[ ${1:-} != fail ]]
PROGRAM
chmod +x "$clone/program.sh"
command_in_clone() {
  run env PATH="$stubs:$PATH" SHARDSCOPE_OS_RELEASE="$work/debian12" bash "$clone/$1" "${@:2}"
}

answer="<run><$clone/scenarios/quickstart.textproto><--set><name=a b>"
command_in_clone scenarios/quickstart.sh --set 'name=a b'
check 'quickstart: passes' code_is 0
check 'quickstart: says what it does' has "$output" 'Building release ... done, '
check 'quickstart: runs the program with the arguments' has "$output" "$answer"

command_in_clone scenarios/quickstart.sh --set 'name=a b'
check 'quickstart again: the answer alone' [ "$output" = "$answer" ]

mv "$clone" "$work/moved clone"
clone="$work/moved clone"
command_in_clone scenarios/quickstart.sh
check 'quickstart in a moved clone: builds anew' has "$output" 'Building release ... done, '

command_in_clone tests/run.sh -R good
check 'run.sh: passes' code_is 0
check 'run.sh: ends as ctest does' has "$output" 'Total Test time'
check 'run.sh: arguments go to ctest' has "$output" 'out of 1'

command_in_clone tests/run.sh
check 'run.sh: a failing test is a failure' code_is 8

command_in_clone tests/run.sh sanitize -R 'no such test'
check 'run.sh: no test is a failure' lacks "$code" 0
check 'run.sh: the preset is built' [ -x "$clone/build/sanitize/bin/shardscope" ]

echo 'if' >>"$clone/program.sh"
command_in_clone scenarios/quickstart.sh
check 'a broken build: fails' code_is 1
check 'a broken build: the end of the log' has "$output" 'ninja: build stopped'
check 'a broken build: nothing is run' lacks "$output" '<run>'

command_in_clone tests/run.sh no_such_preset
check 'an unknown preset: fails' code_is 1
check 'an unknown preset: CMake says so' has "$output" 'No such preset'

if ((failures)); then
  echo "$failures checks failed"
  exit 1
fi
echo 'All checks passed'
