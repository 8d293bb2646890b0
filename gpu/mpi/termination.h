#pragma once

namespace vsim::gpu {

/// When one process dies, mpirun sends SIGTERM to the others at once. From now on a process lives on for a
/// second after that signal, long enough to learn over the job's channel who died and to say so; then it ends
/// by SIGALRM. Signals that are already handled stay as they are.
void surviveTerminationForASecond();

}  // namespace vsim::gpu
