"""What the benchmarks share: the motions, hand-written C, timing and tables."""
