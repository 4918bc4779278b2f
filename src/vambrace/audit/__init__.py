"""Finished tests and logs: what they would still show if some of their events were fake."""
