"""Data of plans' pages, taken from a plan of the program or made of one, for plan_page_test.py."""

import copy
import json
import os
import subprocess

import sample_data
from sample_data import HOSTILE

# Trains in an instant; of the candidates on 2 and 8 ranks with 30 MB some fit.
MODEL = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 256,
         "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4,
         "intermediate_size": 688, "vocab_size": 1000, "max_position_embeddings": 128,
         "hidden_act": "silu", "tie_word_embeddings": False}
DEEPSPEED = {"train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": True},
             "zero_optimization": {"stage": 2, "overlap_comm": True}, "steps_per_print": 10,
             HOSTILE: 1}


def write_json(folder, name, value):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)
    return path


def planned(program, folder, *arguments):
    """The page and the JSON report that one plan of the model writes."""
    page = os.path.join(folder, "written.html")
    report = os.path.join(folder, "written.json")
    subprocess.run([program, "plan", "--hf-config", write_json(folder, "config.json", MODEL),
                    "--cluster", "dgx-a100", "--set", "cluster.device.memory=30MB", "--html", page,
                    "--json", report, *arguments], check=True, capture_output=True)
    with open(page, encoding="utf-8") as file, open(report, encoding="utf-8") as json_file:
        return file.read(), json.load(json_file)


def data_with(plan, **members):
    return {"kind": "plan", "title": "a plan", "shardscope": "1.2.3", "plan": {**plan, **members}}


def many(plan):
    """The candidates on 2 ranks as if on many numbers of ranks: more than 300 rows."""
    rows = [row for row in plan["plans"] if row["ranks"] == 2]
    choice = plan["recommendations"][0]
    all_ranks = [2**i for i in range(9)]
    return data_with(
        plan, plans=[{**row, "ranks": ranks} for ranks in all_ranks for row in rows],
        recommendations=[{**choice, "ranks": ranks, "plan": i * len(rows) + choice["plan"]}
                         for i, ranks in enumerate(all_ranks)])


def misfit(row, times):
    """Needs so many times the device's memory."""
    figures = {name: None for name in row
               if name.endswith("_s") or name.startswith("sent") or name.startswith("model_flops")}
    device = row["device_memory_bytes"]
    return {**row, **figures, "fits": False, "outcome": "out_of_memory", "recommended": False,
            "peak_bytes": times * device, "lacking_bytes": (times - 1) * device,
            "category": "gathered_parameters", "phase": "forward"}


def nothing_fits(plan):
    """Rows up to a hundred times too large, one that failed, and names full of markup."""
    rows = [misfit(row, 2 + i) for i, row in enumerate(plan["plans"]) if row["ranks"] == 2]
    rows[3].update(outcome="failed", failure=HOSTILE, strategy=HOSTILE)
    rows[4] = misfit(rows[4], 100)
    for name in ("lacking_bytes", "category", "phase"):
        del rows[3][name]
    assumptions = {**plan["assumptions"], "model_notes": [HOSTILE], "left_out": [HOSTILE],
                   "host": {"link_bytes_per_s": 3e10, "adam_parameters_per_s": 1e9}}
    keys = [{"key": HOSTILE, "value": HOSTILE, "origin": "given", "effect": "none",
             "meaning": HOSTILE},
            {"key": "long", "value": "x" * 300, "origin": "auto", "effect": "not_modelled",
             "meaning": "word " * 60}]
    data = data_with(plan, plans=rows, assumptions=assumptions,
                     understood={"file": HOSTILE, "keys": keys},
                     recommendations=[{"ranks": 2, "plan": None,
                                       "reasons": ["Nothing fits.", f"Closest is {HOSTILE}."]}])
    return {**copy.deepcopy(data), "title": HOSTILE}


def embedded_plan(page):
    return sample_data.data_of(page)["plan"]
