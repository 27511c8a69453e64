"""The file format of fitted models: named arrays and a JSON header, written in one step and checked when read."""
