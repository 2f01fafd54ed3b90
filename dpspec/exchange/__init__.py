"""Files that others wrote: records of the deployments registry, to specification files and back; tables to be published."""
