"""What the benchmarks share: the motions, hand-written C, the stopwatch and tables."""
