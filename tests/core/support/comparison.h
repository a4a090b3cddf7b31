// How far two correct trainings may be apart, and how far they are.
#pragma once

#include <vector>

#include "core/tensor/dtype.h"
#include "tests/core/support/oracle.h"
#include "tests/core/support/pytorch.h"
#include "tests/core/support/training_run.h"

namespace shardscope::testing {

// In half precision single parameters differ by as much as Adam moves them when a tiny gradient
// rounds to the other sign: there the distance is that of all parameters together.
struct Tolerance {
  double relative_loss;
  double absolute_parameters;  // fp32.
  double relative_l2;          // Half types.
};

Tolerance tolerance(DType precision);

/// The largest errors of a comparison.
struct Worst {
  double loss = 0;
  double norm = 0;
  double parameters = 0;  // Absolute in fp32, relative L2 in half.

  void take(const Worst& other);
};

double largest_relative_error(const std::vector<double>& values,
                              const std::vector<double>& expected);

double parameter_error(DType precision, const std::vector<double>& values,
                       const std::vector<double>& expected);

Worst compare(const TrainingRun& run, const OracleRun& oracle, DType precision);

/// Of the parameters, those that the reference has.
Worst compare(const TrainingRun& run, const PytorchRun& pytorch, DType precision);

/// Fails the test where an error exceeds its tolerance.
void check(const Worst& worst, DType precision, const char* against);

/// Prints the errors.
void report(const char* against, const Worst& worst);

}  // namespace shardscope::testing
