package learn

// An Anneal is a value that changes during training: phase by phase, and linearly within
// each. After the last phase it keeps that phase's To. An empty Anneal is always 0.
//
//	Anneal{{Until: 1, From: 3e-4, To: 3e-4}}   constant
//	Anneal{{Until: 0.85, From: 0.1, To: 0}}    falls to 0, which it reaches at 85 %
type Anneal []Phase

// A Phase lasts from the end of the previous phase to Until, a larger fraction of all steps.
type Phase struct{ Until, From, To float64 }

// At returns the value after a fraction of all steps.
func (a Anneal) At(progress float64) float64 {
	begin, value := 0.0, 0.0
	for _, p := range a {
		if progress < p.Until {
			return p.From + (p.To-p.From)*(progress-begin)/(p.Until-begin)
		}
		begin, value = p.Until, p.To
	}
	return value
}
