"""How other tools put values into bytes and text: JSON in pieces, UBJSON, protocol buffers."""
