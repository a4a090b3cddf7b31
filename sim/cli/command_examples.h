// What stands below the options of each command's help.
#pragma once

namespace shardscope {

inline constexpr const char* kExamples = R"(Examples:
  shardscope init my.textproto                      a commented scenario to start from
  shardscope check my.textproto                     every fault of a file at once
  shardscope run my.textproto                       train it and print the report
  shardscope run my.textproto --set cluster.link.bandwidth=100Gbps --quiet
  shardscope run my.textproto --strategy DDP,ZERO3 --json result.json
  shardscope run my.textproto --trace trace.json --trace-steps 2..3 --critical-path
  shardscope sweep my.textproto --axis cluster.world_size=2,4,8 --out results
  shardscope explain my.textproto --strategy ZERO1  one step, number by number
  shardscope memory --parameters 7.5e9,128e9 --world-size 1,4,64
  shardscope plan --hf-config config.json --cluster dgx-h100   which strategy, and why
  shardscope collective my.textproto --algorithm all  times of an all_reduce, by size
  shardscope topology my.textproto                  what its cluster is, and where it is narrow
  shardscope platforms dgx-h100                     a node of the catalogue, with sources
  shardscope checkpoint inspect checkpoints/ZERO1   what the newest checkpoint holds

Exit codes: 0 done (a simulated out-of-memory is a result), 1 a simulation died,
2 a fault in a file, an argument or an output.)";

inline constexpr const char* kRunExamples = R"(Examples:
  shardscope run my.textproto --quiet
  shardscope run my.textproto --set cluster.link.bandwidth=100Gbps --set training.steps=5
  shardscope run my.textproto --strategy DDP,ZERO3 --json result.json --save-weights weights
  shardscope run my.textproto --strategy ZERO3 --chakra zero3    zero3.0.et, zero3.1.et, ...)";

inline constexpr const char* kSweepExamples = R"(Examples:
  shardscope sweep my.textproto --out results
  shardscope sweep my.textproto --out results --resume
  shardscope sweep my.textproto --axis cluster.link.bandwidth=1Gbps..400Gbps:12:log \
    --axis cluster.world_size=2,4,8,16 --strategy DDP,ZERO3 --out results

Exit codes: 0 done, whatever came of the points; 2 a fault in a file, an argument or
an output; 130 interrupted.)";

inline constexpr const char* kMergeExample = R"(Example:
  shardscope merge results-1 results-2 results-3 --out results)";
inline constexpr const char* kExplainExamples = R"(Examples:
  shardscope explain my.textproto --strategy ZERO1
  shardscope explain my.textproto --step 3 --markdown > step.md
  shardscope explain my.textproto --set cluster.world_size=2 --set model.layers=[2,2,1])";

inline constexpr const char* kMemoryExamples = R"(Examples:
  shardscope memory --parameters 7.5e9,128e9 --world-size 1,4,64
  shardscope memory --parameters 2851M --world-size 8 --largest-layer 32899072)";

inline constexpr const char* kCollectiveExamples = R"(Examples:
  shardscope collective my.textproto
  shardscope collective my.textproto --op all_gather --bytes 1MiB..1GiB:4
  shardscope collective my.textproto --bytes 64MiB --algorithm all)";

inline constexpr const char* kPlanExamples = R"(Examples:
  shardscope plan --hf-config config.json --cluster dgx-a100 --ranks 8,64
  shardscope plan my.textproto --micro-batch 1,2,4,8 --html plan.html
  shardscope plan --hf-config config.json --deepspeed ds_config.json --cluster my.textproto
  shardscope plan --hf-config config.json --accelerate fsdp.yaml --cluster platform.xml \
    --set cluster.device.preset=a100-80g --sequence 4096

Every strategy, micro-batch and choice of recomputation is simulated for an optimizer step,
collectives as flows. CLUSTER is a scenario with a cluster, a topology file, or a node of
the catalogue: then as many as the ranks need, on a switch that is no bottleneck. Without
--ranks: those of the configuration or the scenario, else 8 and 64. Without --micro-batch:
that of the configuration, else 1, 2 and 4.)";

inline constexpr const char* kTopologyExamples = R"(Examples:
  shardscope topology my.textproto
  shardscope topology my.textproto --dot - | dot -Tsvg > cluster.svg
  shardscope topology my.textproto --set cluster.fabric.kind=RING --json cluster.json)";

inline constexpr const char* kPlatformsExamples = R"(Examples:
  shardscope platforms
  shardscope platforms dgx-h100
  shardscope platforms --json platforms.json)";

inline constexpr const char* kCheckExamples = R"(Examples:
  shardscope check my.textproto other.textproto
  shardscope check my.textproto --set cluster.world_size=16)";

inline constexpr const char* kCheckpointExamples = R"(Examples:
  shardscope checkpoint inspect checkpoints/ZERO1
  shardscope checkpoint verify checkpoints
  shardscope checkpoint reshard checkpoints/ZERO1 --world-size 3 --out resharded
  shardscope checkpoint consolidate checkpoints/ZERO1 --out weights.safetensors

DIR is the folder of a step, or that of a strategy, whose newest step is then meant.)";

inline constexpr const char* kInitExample = R"(Example:
  shardscope init my.textproto)";

inline constexpr const char* kSchemaExample = R"(Example:
  shardscope schema | less)";

}  // namespace shardscope
