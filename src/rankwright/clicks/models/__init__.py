"""Click models: how users go through result lists, and what their clicks tell about documents."""
