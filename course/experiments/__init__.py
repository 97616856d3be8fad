"""Experiments that a lab gives to students ready-made."""
