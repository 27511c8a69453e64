"""The file format of fitted things: named arrays and a JSON header."""
