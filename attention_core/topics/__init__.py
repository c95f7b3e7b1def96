"""Old places of public names, for one version: see attention_core.inference."""
