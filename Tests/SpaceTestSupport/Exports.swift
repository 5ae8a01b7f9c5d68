// Nearly every test ends with the full check of its namespaces, or looks at their status.
@_exported public import SpaceInspection
