#pragma once

#include <functional>
#include <vector>

namespace vsim::app {

/// One number to fit, changed in place. Logarithmic ones move in log space; spread is then that of the log.
struct FitVariable {
  double* value = nullptr;
  bool logarithmic = false;
  double prior = 0, spread = 1;  // weak normal prior around `prior`
  double lower = 0, upper = 1;
  std::vector<int> rows;  // rows whose prediction depends on it; empty: all
};

/// Minimises sum of soft-L1((log predicted - log measured) / scale) + sum of ((x - prior) / spread)^2.
struct FitProblem {
  std::vector<FitVariable> variables;
  std::vector<double> logMeasured;
  std::vector<double> weights;                 // per row; empty: 1
  std::function<double(std::size_t)> predict;  // prediction of a row with the current values, > 0
  double scale = 0.05;
};

/// Levenberg-Marquardt with soft-L1 weights (reweighted in every step) and numeric derivatives. Leaves the
/// best values in place and returns the objective. Deterministic.
double fit(FitProblem& problem, int maximumSteps = 60);

}  // namespace vsim::app
