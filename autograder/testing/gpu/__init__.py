"""The parts of `course bench gpu`: what each measures, its tools, and ranks without engines."""
