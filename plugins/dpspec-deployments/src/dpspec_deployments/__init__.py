"""What is promised out there: files about real releases as a catalogue, as evidence for a reviewer, as a label for people."""
