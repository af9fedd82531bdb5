"""Pure values: enums, errors, descriptors, samplers, handles, ranges, copy regions. No driver is known here."""
