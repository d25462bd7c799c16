package env

import "slices"

// A Chooser is an environment whose agent chooses one of several candidates, such as the jobs
// that run together, and an action for it. Observe and Step are about the current candidate, which
// is candidate 0 after Reset and Step.
type Chooser interface {
	Env
	Choices
}

// Choices are the candidates of one decision.
type Choices interface {
	// Shape is that of [Env].
	Shape() Shape
	// Candidates is their number, at least 1.
	Candidates() int
	// Choose makes a candidate, by its number, the current one.
	Choose(candidate int)
	// Observe is that of [Env], for the current candidate.
	Observe(observation []float32, mask []bool)
}

// A Choice is a candidate and an action for it.
type Choice struct{ Candidate, Action int }

// Candidates holds the observations of all candidates of a decision. The zero value is ready for
// use, by one goroutine at a time.
type Candidates struct {
	shape        Shape
	observations []float32
	masks        []bool
}

// Best observes all candidates and returns the one with the highest action value, the first of
// equals. values gets n observations. The current candidate changes.
func (c *Candidates) Best(of Choices, values func(observations []float32, n int) (preferences, _ []float32)) Choice {
	c.shape = of.Shape()
	n := of.Candidates()
	c.observations = slices.Grow(c.observations[:0], n*c.shape.Observation)[:n*c.shape.Observation]
	c.masks = slices.Grow(c.masks[:0], n*c.shape.Actions)[:n*c.shape.Actions]
	for k := range n {
		of.Choose(k)
		of.Observe(c.Observation(k), c.Mask(k))
	}
	q, _ := values(c.observations, n)
	i := Likeliest(q, c.masks)
	return Choice{i / c.shape.Actions, i % c.shape.Actions}
}

// Len is the number of candidates of the last decision.
func (c *Candidates) Len() int { return len(c.masks) / c.shape.Actions }

// Observation is that of a candidate of the last decision.
func (c *Candidates) Observation(k int) []float32 {
	return c.observations[k*c.shape.Observation : (k+1)*c.shape.Observation]
}

// Mask is that of a candidate of the last decision.
func (c *Candidates) Mask(k int) []bool { return c.masks[k*c.shape.Actions : (k+1)*c.shape.Actions] }
