"""Whole tables: releases drawn and written, public test tables, and specifications drafted from a table."""
