#pragma once

namespace vsim::sim {

/// What the model adds to NCCL's own tuning constants. The constants rank NCCL's choices and were never meant
/// to predict time (they give a third of the measured latency of a 10-node ring); these defaults are what
/// public measurements show instead. Plain values: a fit or a user may replace any of them.
struct NetworkParameters {
  /// Seconds per rank of a ring over several nodes with LL128 or Simple, reached at many nodes: t = 8.5 us *
  /// n
  /// + S (n-1)/n / 319 GB/s describes all-gathers of 32 MiB and more on 16, 32 and 64 H100 (AWS p5,
  /// NCCL 2.28) to 7 %; 10 nodes of 8 H100 (NCCL 2.29, 400 Gb/s per GPU) give 7.2 us.
  double ringRankLatency = 8.5e-6;

  /// Ring on one node: share of the rate of NCCL's graph search that large messages reach (all_gather and
  /// reduce_scatter of 512 MiB to 16 GiB on 8 GPUs, nccl-tests, NCCL 2.27 to 2.29).
  double ringEfficiencyAmpere = 0.93;
  double ringEfficiencyHopper = 1.0;
  double ringEfficiencyBlackwell = 0.95;
  /// Ring over several nodes, the part inside a node: 317 to 325 GB/s of 360 (8 GiB on 16 H200 and 80 H100).
  double ringEfficiencyAcrossNodes = 0.90;
  /// Share of the NICs' line rate: 48.8 of 50 GB/s (one GPU per node), 98 of 100 and 196 of 200 (two and
  /// four).
  double nicEfficiency = 0.97;
  /// Extra time of large-message kernels per halving below 8 GiB, at most `rampCeiling`: on 8 H100 an
  /// all-gather reaches 359 GB/s at 8 GiB, 335 at 512 MiB and 299 at 128 MiB.
  double rampPerHalving = 0.02;
  double rampCeiling = 0.12;

  /// All-reduce in the switch (NVLS), bus bandwidth over NVLink's one-way rate: 1.05 on 8 H100 (482 of 450
  /// GB/s), 0.93 on GB200 NVL72 (835 of 900).
  double nvlsEfficiencyHopper = 1.05;
  double nvlsEfficiencyBlackwell = 0.93;
  double nvlsLatency = 40e-6;
  /// NVLSTree on three or more nodes: 356 of 400 GB/s on 4 to 16 nodes of p5.
  double nvlsTreeNicEfficiency = 0.89;

  /// All-to-all: share of NVLink's one-way rate (one node; 346 of 450 GB/s on H100) and of the NIC (0.88 to
  /// 0.91 on 10 and 64 to 128 H100), and seconds per rank across nodes (5.6 to 9.3 us there).
  double allToAllEfficiencyAmpere = 0.72;
  double allToAllEfficiencyHopper = 0.77;
  double allToAllEfficiencyBlackwell = 0.68;
  double allToAllNicEfficiency = 0.89;
  double allToAllRankLatency = 6e-6;
  double allToAllRankLatencyLl = 2.5e-6;

  /// Share of the latency that the network plug-in reports which LL messages really see: up to 1 KiB a
  /// two-node all-reduce on p5 takes 63 to 75 us where the reported 75 us would give 180.
  double reportedLatencyLl = 0.3;

  /// Added to every collective's base latency: 512 B on 8 GPUs takes 14.6 us on A100 and 16.1 us on B200
  /// where the constants say 10.8; H100's 10.1 needs nothing.
  double extraBaseAmpere = 4e-6;
  double extraBaseBlackwell = 5e-6;

  /// A segment with one pointer off a multiple of 16 bytes is copied element by element. All-gather and
  /// all-to-all (compiled for one-byte elements): 6.29 MB took 7 ms instead of 2 (horovod pull request 3727).
  /// Reductions keep their element type: an estimate.
  double misalignedCopy = 3.5;
  double misalignedReduce = 1.75;

  /// HBM traffic per byte received, for the slow-down of compute kernels: read and written once into the
  /// buffer and once more when staged through NCCL's own.
  double hbmBytesPerPayloadByte = 3.0;

  /// Mean error of the model on published nccl-tests runs: 0.13 on NVLink systems with InfiniBand, RoCE or
  /// EFA, 0.25 with Slingshot among them.
  double relativeError = 0.15;
};

}  // namespace vsim::sim
