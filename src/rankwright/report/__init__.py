"""What people look at: pictures of forces and of results."""
