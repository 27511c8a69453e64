"""Trained models made smaller, at a loss that is measured."""
