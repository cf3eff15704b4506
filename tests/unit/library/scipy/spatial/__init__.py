"""`scipy.spatial`: `test_distance`, `test_rotations`."""
