#!/usr/bin/env bash
# A sweep as a Slurm job array: each task runs a shard of it, in a folder of its own, and goes on with
# it if it is queued again. Arguments are those of `shardscope sweep`; --out is the folder of all.
#
#   sbatch --array=1-8 --cpus-per-task=4 scenarios/sweep_array.sh SCENARIO --out DIR
#   shardscope merge DIR/shard-* --out DIR/whole        # once all have ended
#
# Shards are counted from the array's first index: --array=0-7 and --array=1-8 are the same. An array
# has to be whole: no step (0-15:2), no list with gaps. SHARDSCOPE names another program.
#SBATCH --job-name=shardscope
set -euo pipefail

out=
arguments=()
while (($#)); do
  case $1 in
    --out) out=${2:?--out needs a folder}; shift ;;
    --out=*) out=${1#--out=} ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
: "${out:?--out DIR is needed}"

count=${SLURM_ARRAY_TASK_COUNT:?run this as a job array: sbatch --array=1-8 $0 ...}
index=$((SLURM_ARRAY_TASK_ID - ${SLURM_ARRAY_TASK_MIN:-1} + 1))
mkdir -p "$out"
exec "${SHARDSCOPE:-shardscope}" sweep "${arguments[@]}" --shard "$index/$count" \
  --out "$out/shard-$index" --resume --jobs "${SLURM_CPUS_PER_TASK:-1}"
