#!/usr/bin/env python3
"""How long large simulations take, whole processes: python3 tests/bench/scale_bench.py [PROGRAM] [RUNS]

Llama-2 7B under ZERO3, one step, collectives as flows, on a fat tree of DGX A100; and one ring
all_reduce of 1 GiB on a star, as flows and message by message. Prints wall-clock seconds, those of
the CPU and the peak memory of each run.
"""
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCENARIO = """
name: "Llama-2 7B"
model { hf_config: "%s/scenarios/models/llama_2_7b.json" }
training { steps: 1 precision: BF16 activation_checkpointing: 1 }
cluster {
  node { preset: "dgx-a100" }
  fabric { kind: FAT_TREE preset: "hdr-200" }
  collective { fidelity: FLOW }
}
strategies: [ZERO3]
""" % ROOT
STAR = """
name: "star"
model { layers: [1, 1] }
training { arithmetic: NONE }
cluster { device { preset: "a100-80g" } link { bandwidth: "100GBps" latency: "1us" } }
"""


def run(arguments):
    """Seconds, CPU seconds and MB of a program that must succeed."""
    begin = time.monotonic()
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit('failed: ' + ' '.join(arguments))
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else ROOT + '/build/release/bin/shardscope'
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as folder:
        llama, star = folder + '/llama.textproto', folder + '/star.textproto'
        for path, text in ((llama, SCENARIO), (star, STAR)):
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)

        def step(ranks):
            return [program, 'run', llama, '--quiet', '--set', 'cluster.world_size=%d' % ranks,
                    '--set', 'training.global_batch=%d' % ranks]

        def collective(ranks, fidelity):
            return [program, 'collective', star, '--bytes', '1GiB',
                    '--set', 'cluster.world_size=%d' % ranks,
                    '--set', 'cluster.collective.fidelity=' + fidelity]

        cases = [('ZERO3 step, FLOW, %5d ranks' % n, step(n)) for n in (64, 1024, 4096, 16384)]
        cases += [('all_reduce, FLOW, %5d ranks' % n, collective(n, 'FLOW')) for n in (1024, 4096)]
        cases += [('all_reduce, MESSAGE, %d ranks' % n, collective(n, 'MESSAGE'))
                  for n in (256, 1024)]
        for name, arguments in cases:
            for _ in range(1 if '16384' in name else runs):
                print('%-30s %7.2f s  %7.2f s of CPU  %6.0f MB' % ((name,) + run(arguments)),
                      flush=True)


if __name__ == '__main__':
    main()
