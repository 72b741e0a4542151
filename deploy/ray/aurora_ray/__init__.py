"""Builds Aurora indexes of many and of large repositories on a Ray cluster.

Ray schedules the work, repeats it after a failure, and transports the parts. The program `aur` divides, indexes and
merges. This package only decides the number of shards, runs `aur` in tasks, and writes the results.
"""
