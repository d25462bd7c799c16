package env

// A Chooser is an environment whose agent chooses one of several candidates, such as the jobs that run together, and an
// action for it. Observe and Step are about the current candidate, which is candidate 0 after Reset and Step.
type Chooser interface {
	Env
	Choices
}

// Choices are the candidates of one decision.
type Choices interface {
	// Shape is the method of [Env].
	Shape() Shape
	// Candidates is their number, at least 1.
	Candidates() int
	// Choose makes a candidate, by its number, the current one.
	Choose(candidate int)
	// Observe is the method of [Env], for the current candidate.
	Observe(observation []float32, mask []bool)
}

// A Choice is a candidate and an action for it.
type Choice struct{ Candidate, Action int }

// Candidates holds the observations of all candidates of a decision, a row each. The zero value is
// ready for use, by one goroutine at a time.
type Candidates struct{ Rows }

// Best observes all candidates and returns the one with the highest action value, the first of
// equals. values gets n observations. The current candidate changes.
func (c *Candidates) Best(of Choices, values func(observations []float32, n int) (preferences, _ []float32)) Choice {
	n := of.Candidates()
	c.Resize(of.Shape(), n)
	for k := range n {
		of.Choose(k)
		of.Observe(c.Observation(k), c.Mask(k))
	}
	q, _ := values(c.Observations, n)
	i := Likeliest(q, c.Masks)
	return Choice{i / c.Shape.Actions, i % c.Shape.Actions}
}

// Len is the number of candidates of the last decision.
func (c *Candidates) Len() int { return len(c.Masks) / c.Shape.Actions }
