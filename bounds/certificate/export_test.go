package certificate

import "miglab/harness/schedule"

// VerifyWitness verifies a witness without a schedule.
func VerifyWitness(p schedule.Problem, w Witness) error { return w.verify(&p) }
