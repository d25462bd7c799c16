package datasets

import (
	"strconv"

	"miglab/harness/spec"
)

// whole declares a whole number from low to high.
func whole(name string, value, low, high int, doc string) spec.Param {
	return spec.Param{Name: name, Default: strconv.Itoa(value), Type: spec.Whole(low, high), Doc: doc}
}

// number declares a number from low to high.
func number(name string, value, low, high float64, doc string) spec.Param {
	return spec.Param{Name: name, Default: spec.FormatFloat(value), Type: spec.Number(low, high), Doc: doc}
}

// choice declares one of several values. The first is the default.
func choice(name, doc string, values ...string) spec.Param {
	return spec.Param{Name: name, Default: values[0], Values: values, Doc: doc}
}

// seedParam declares the seed of a random stream.
func seedParam(name, doc string) spec.Param {
	return spec.Param{Name: name, Default: "1", Type: spec.Seed, Doc: doc}
}

// refuse returns the error for the value of a parameter. want describes the accepted values.
func refuse(a spec.Args, name, want string) error {
	return &spec.ParameterError{Name: name, Value: a[name], Want: want}
}
