#include "app/least_squares.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace vsim::app {
namespace {

/// A dense symmetric matrix, lower triangle used.
class Symmetric {
 public:
  explicit Symmetric(std::size_t size) : size_(size), values_(size * size, 0) {}
  double& at(std::size_t row, std::size_t column) { return values_[row * size_ + column]; }

  /// Solves A x = b by Cholesky; false when A is not positive definite. Destroys A.
  bool solve(std::vector<double>& b) {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = at(i, j);
        for (std::size_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
        if (i == j) {
          if (!(sum > 0)) return false;
          at(i, i) = std::sqrt(sum);
        } else {
          at(i, j) = sum / at(j, j);
        }
      }
    }
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t k = 0; k < i; ++k) b[i] -= at(i, k) * b[k];
      b[i] /= at(i, i);
    }
    for (std::size_t i = size_; i-- > 0;) {
      for (std::size_t k = i + 1; k < size_; ++k) b[i] -= at(k, i) * b[k];
      b[i] /= at(i, i);
    }
    return true;
  }

 private:
  std::size_t size_;
  std::vector<double> values_;
};

class Solver {
 public:
  explicit Solver(FitProblem& problem) : p_(problem), rows_(problem.logMeasured.size()) {
    for (const FitVariable& v : p_.variables) {
      x_.push_back(inner(v, std::clamp(*v.value, v.lower, v.upper)));
      prior_.push_back(inner(v, v.prior));
    }
    apply(x_);
  }

  double run(int maximumSteps) {
    residuals_ = residuals();
    double objective = total(residuals_, x_);
    double damping = 1e-2;
    int stalled = 0;
    for (int step = 0; step < maximumSteps && stalled < 3; ++step) {
      linearise();
      bool improved = false;
      for (int attempt = 0; attempt < 8 && !improved; ++attempt) {
        std::vector<double> next = x_;
        if (solveStep(damping, next)) {
          apply(next);
          std::vector<double> r = residuals();
          const double value = total(r, next);
          if (value < objective) {
            stalled = objective - value < 1e-8 * objective ? stalled + 1 : 0;
            objective = value;
            x_ = next;
            residuals_ = std::move(r);
            damping = std::max(damping * 0.2, 1e-12);
            improved = true;
            continue;
          }
        }
        damping *= 4;
      }
      if (!improved) break;
    }
    apply(x_);
    return objective;
  }

 private:
  static double inner(const FitVariable& v, double value) {
    return v.logarithmic ? std::log(std::max(value, 1e-12)) : value;
  }
  static double outer(const FitVariable& v, double x) { return v.logarithmic ? std::exp(x) : x; }

  void apply(const std::vector<double>& x) {
    for (std::size_t i = 0; i < x.size(); ++i) *p_.variables[i].value = outer(p_.variables[i], x[i]);
  }

  double residual(std::size_t row) const { return std::log(p_.predict(row)) - p_.logMeasured[row]; }
  std::vector<double> residuals() const {
    std::vector<double> r(rows_);
    for (std::size_t i = 0; i < rows_; ++i) r[i] = residual(i);
    return r;
  }
  double weight(std::size_t row) const { return p_.weights.empty() ? 1 : p_.weights[row]; }

  double total(const std::vector<double>& r, const std::vector<double>& x) const {
    double sum = 0;
    for (std::size_t i = 0; i < rows_; ++i) {
      const double z = r[i] / p_.scale;
      sum += weight(i) * 2 * (std::sqrt(1 + z * z) - 1);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double z = (x[i] - prior_[i]) / p_.variables[i].spread;
      sum += z * z;
    }
    return sum;
  }

  /// Sparse Jacobian by forward differences (backward at an upper bound).
  void linearise() {
    jacobian_.assign(rows_, {});
    for (std::size_t i = 0; i < x_.size(); ++i) {
      FitVariable& v = p_.variables[i];
      const double size = v.logarithmic ? 1e-4 : 1e-4 * std::max(1.0, std::abs(x_[i]));
      const double h = outer(v, x_[i] + size) > v.upper ? -size : size;
      const double saved = *v.value;
      *v.value = outer(v, x_[i] + h);
      const auto derive = [&](std::size_t row) {
        const double d = (residual(row) - residuals_[row]) / h;
        if (d != 0) jacobian_[row].push_back({i, d});
      };
      if (v.rows.empty())
        for (std::size_t row = 0; row < rows_; ++row) derive(row);
      else
        for (const int row : v.rows) derive(static_cast<std::size_t>(row));
      *v.value = saved;
    }
  }

  /// One damped step from x_ into `next`, clamped to the bounds.
  bool solveStep(double damping, std::vector<double>& next) {
    const std::size_t size = x_.size();
    Symmetric matrix(size);
    std::vector<double> gradient(size, 0);
    for (std::size_t row = 0; row < rows_; ++row) {
      const double z = residuals_[row] / p_.scale;
      const double w = weight(row) / std::sqrt(1 + z * z) / (p_.scale * p_.scale);
      for (const Entry& a : jacobian_[row]) {
        gradient[a.variable] -= w * a.derivative * residuals_[row];
        for (const Entry& b : jacobian_[row])
          if (b.variable <= a.variable) matrix.at(a.variable, b.variable) += w * a.derivative * b.derivative;
      }
    }
    for (std::size_t i = 0; i < size; ++i) {
      const double precision = 1 / (p_.variables[i].spread * p_.variables[i].spread);
      gradient[i] -= precision * (x_[i] - prior_[i]);
      matrix.at(i, i) += precision;
      matrix.at(i, i) *= 1 + damping;
    }
    if (!matrix.solve(gradient)) return false;
    for (std::size_t i = 0; i < size; ++i) {
      const FitVariable& v = p_.variables[i];
      next[i] = std::clamp(x_[i] + gradient[i], inner(v, v.lower), inner(v, v.upper));
    }
    return true;
  }

  struct Entry {
    std::size_t variable;
    double derivative;
  };
  FitProblem& p_;
  std::size_t rows_;
  std::vector<double> x_, prior_, residuals_;
  std::vector<std::vector<Entry>> jacobian_;
};

}  // namespace

double fit(FitProblem& problem, int maximumSteps) { return Solver(problem).run(maximumSteps); }

}  // namespace vsim::app
