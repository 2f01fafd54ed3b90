"""Real deployments: files about published releases as a catalogue, as evidence for a reviewer, and as a label for the public."""
