"""Records of the deployments registry: YAML files to specification files and back."""
