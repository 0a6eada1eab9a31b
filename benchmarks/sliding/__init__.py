"""Vehicles whose wheels slide: their motions, and the programs that run them."""
