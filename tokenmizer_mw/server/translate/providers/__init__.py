"""What providers speak: a call as their request, their replies and streams in words."""
