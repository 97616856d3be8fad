"""From a lab's text to the notebook that students receive: source, answers, lab.toml, build, release, converter."""
