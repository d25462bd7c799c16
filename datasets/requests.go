package datasets

// parseRequests parses the specs of the placement track; known is false for others.
func parseRequests(string) (s Spec, known bool, err error) { return nil, false, nil }

// requestNames lists the datasets of the placement track.
func requestNames() []string { return nil }
