"""Adjustable rules over bound models."""
