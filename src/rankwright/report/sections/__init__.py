"""The sections of pages, one file each: from results to what people read."""
