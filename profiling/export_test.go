package profiling

// Add adds a sample.
func (w *Watch) Add(s Sample) { w.add(s, nil) }
