"""What students use around the labs: `course lab`, `work/`, hand-in, doctor, and the notebook extension."""
