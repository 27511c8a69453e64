"""One label out of many grades: kinds of raters, the model of them, and what it is compared with."""
