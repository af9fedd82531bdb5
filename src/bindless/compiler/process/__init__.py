"""Processes that compile: command lines, sessions, the time limit, and workers that answer requests."""
