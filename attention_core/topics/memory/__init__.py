"""What a recurrent network forgets: states, gates, how much each word still matters."""
