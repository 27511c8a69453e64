"""`rankwright compare` and `rankwright fuse`: systems side by side, and made into one."""
