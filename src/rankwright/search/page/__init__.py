"""The local page to search, compare, try out and judge: HTML made here, with a little JavaScript of our own."""
