// The sections of a text report, each in a file of its own. They write nothing where no run has
// what they show.
#pragma once

#include "sim/report/compared_runs.h"
#include "sim/report/context.h"
#include "sim/report/page.h"

namespace shardscope {

/// The time of a step, and what limits it. In time_section.cpp.
void write_time(const ComparedRuns& compared, Page& page);

/// Memory of the fullest rank, measured beside predicted. In memory_section.cpp.
void write_memory(const ComparedRuns& compared, Page& page);

/// Bytes on the wire, measured beside predicted. In wire_section.cpp.
void write_wire(const ComparedRuns& compared, Page& page);

/// Ranks and links apart, unless all are alike by the scenario. In cluster_section.cpp.
void write_cluster(const ComparedRuns& compared, Page& page);

/// What the last step's time hangs on, of runs that recorded it. In critical_path_section.cpp.
void write_critical_path(const ComparedRuns& compared, Page& page);

/// Loss and time of every step. In steps_section.cpp.
void write_steps(const ComparedRuns& compared, Page& page);

/// What the report rests on: network, device, settings, digests. In assumptions_section.cpp.
void write_assumptions(const ComparedRuns& compared, const ReportContext& context, Page& page);

}  // namespace shardscope
