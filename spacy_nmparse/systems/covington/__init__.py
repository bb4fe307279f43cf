"""Covington and NL-Covington, their costs and their losses."""
