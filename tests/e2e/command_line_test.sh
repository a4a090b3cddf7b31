#!/usr/bin/env bash
# Tests what the program says about itself and what it leaves behind when it refuses:
#   bash tests/e2e/command_line_test.sh PROGRAM
set -euo pipefail

program=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  printf 'FAILED: %s\n%s\n' "$1" "$output"
  exit 1
}

# run ARGUMENT...: sets output (both streams) and code.
run() {
  code=0
  output=$("$program" "$@" 2>&1) || code=$?
}
says() { [[ $output == *"$1"* ]] || fail "does not say: $1"; }
says_not() { [[ $output != *"$1"* ]] || fail "says: $1"; }
ends_with_code() { ((code == $1)) || fail "exit code $code, not $1"; }

# Help: every command has its own options and examples.
for command in run memory check init schema; do
  run "$command" --help
  ends_with_code 0
  says "shardscope $command"
  for other in run memory check init schema; do
    [[ $other == "$command" ]] || says_not "  shardscope $other "
  done
done
run run --help
says --save-weights
run memory --help
says --world-size
says_not --save-weights
run --help
for command in run memory check init; do
  says "  shardscope $command "
done

# Outputs: a refusal leaves nothing.
"$program" init small.textproto >/dev/null
small=(small.textproto --set training.steps=1 --strategy DDP)

# refuses ARGUMENT...: exit code 2, and the folder is as it was.
refuses() {
  local before after
  before=$(find . | sort)
  run run "${small[@]}" "$@"
  ends_with_code 2
  after=$(find . | sort)
  [[ $before == "$after" ]] || fail "left behind: $(diff <(echo "$before") <(echo "$after"))"
}
refuses --save-weights new --json missing/report.json
says 'missing/report.json: cannot be written: its folder does not exist'
refuses --save-weights new/inner --json missing/report.json
refuses --save-weights small.textproto/new
says 'small.textproto is not a folder'
refuses --save-weights small.textproto --json missing/report.json
says 'small.textproto is not a folder'
says 'missing/report.json'
refuses --save-weights "new/$(printf 'x%.0s' {1..300})"
refuses --save-weights new --set training.arithmetic=NONE
refuses --save-weights new --set training.steps=0
mkdir -p full/DDP.safetensors
refuses --save-weights full --json missing/report.json
says 'DDP.safetensors: cannot be written: it is a folder'
says 'missing/report.json'

run run "${small[@]}" --save-weights new/inner --json report.json --quiet
ends_with_code 0
[[ -s new/inner/DDP.safetensors && -s report.json ]] || fail 'no outputs'
echo 'passed'
