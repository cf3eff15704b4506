"""Programs that take derivatives: `nested_programs` (within), `composed_programs` (of others)."""
