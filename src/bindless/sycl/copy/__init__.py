"""Copies: endpoints, regions, memory commands and prepared copies."""
