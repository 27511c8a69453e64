"""Tables as people see them: lines of text, Markdown, HTML for notebooks."""
