"""Pure values: enums, errors, descriptors, samplers, handles, ranges, copy regions. This layer uses no driver."""
