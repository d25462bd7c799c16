// Package deep says how much a test repeats. A test runs every kind of check at any depth. Only the number of
// repetitions differs: few under make test, which is for every change, and many under make test-long, which sets the
// environment variable [Variable]. make test-all sets it for the packages on which the results rest.
package deep

import "os"

// Variable is the environment variable that asks for deep tests with any value but "".
const Variable = "MIGLAB_DEEP"

// On reports whether tests are to be deep.
func On() bool { return os.Getenv(Variable) != "" }

// N returns the number of repetitions: quick, or many if tests are to be deep.
func N(quick, many int) int {
	if On() {
		return many
	}
	return quick
}
