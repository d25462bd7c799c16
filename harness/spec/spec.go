// Package spec reads the names of algorithms and datasets: a name and parameters, as in
//
//	drl/WIDETIMES?gen=released&n=20
//
// A [Param] declares a parameter once, as a value. The parser with its messages, the canonical
// spelling and the help text all follow from that declaration.
package spec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"miglab/harness/nearest"
)

// A Param declares a parameter.
type Param struct {
	Name string // the key, the part before the equals sign
	// Default is the value of a parameter that is left out, in canonical spelling. "" means that the
	// parameter then has no value.
	Default     string
	DefaultFrom func(Args) string // computes Default from the parameters declared before; nil for most
	Values      []string          // the values that may be given; nil means that Type decides
	// Type says which values may be given if Values is nil. The zero Type accepts any.
	Type    Type
	Example string   // a value of a parameter that must be given; "" for all others
	Without []string // parameters that cannot be given together with this one
	Doc     string   // describes the parameter in half a sentence
}

// Args are the values of all declared parameters by name, in canonical spelling. A parameter without a value is "".
type Args map[string]string

// A ParameterError says that a value of a parameter is not possible.
type ParameterError struct {
	Name  string // the parameter
	Value string // the given value; "" if no value was given
	Want  string // says what would be right
}

func (e *ParameterError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("parameter %q has no value; give %s", e.Name, e.Want)
	}
	return fmt.Sprintf("parameter %q cannot be %q; give %s", e.Name, e.Value, e.Want)
}

// Split separates the name from the parameters, which are still key=value.
func Split(text string) (name string, pairs []string) {
	name, query, ok := strings.Cut(text, "?")
	if ok {
		pairs = strings.Split(query, "&")
	}
	return name, pairs
}

// Read reads parameters, each as key=value, and fills in the defaults. An unknown key or an unknown one of several
// values is a [*nearest.UnknownError]. A value that is impossible, missing or given twice is a [*ParameterError].
func Read(params []Param, pairs []string) (Args, error) {
	a := Args{}
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		p, err := nearest.Find("parameter", name, params, func(p Param) string { return p.Name })
		if err != nil {
			return nil, err
		}
		if _, given := a[name]; given {
			return nil, &ParameterError{Name: name, Value: value, Want: "the parameter once"}
		}
		if a[name], err = p.read(value); err != nil {
			return nil, err
		}
	}
	for i := range params {
		p := &params[i]
		if _, given := a[p.Name]; given {
			if err := p.checkWithout(pairs); err != nil {
				return nil, err
			}
			continue
		}
		if p.Example != "" {
			return nil, &ParameterError{Name: p.Name, Want: p.want()}
		}
		a[p.Name] = p.defaultWith(a)
	}
	return a, nil
}

func (p *Param) checkWithout(pairs []string) error {
	for _, pair := range pairs {
		if name, value, _ := strings.Cut(pair, "="); slices.Contains(p.Without, name) {
			return &ParameterError{Name: name, Value: value, Want: "either it or " + p.Name}
		}
	}
	return nil
}

// read returns the canonical spelling of a value.
func (p *Param) read(value string) (string, error) {
	switch {
	case value == "":
		return "", &ParameterError{Name: p.Name, Want: p.want()}
	case p.Values != nil && !slices.Contains(p.Values, value):
		return "", fmt.Errorf("parameter %q: %w", p.Name, nearest.Unknown("value", value, p.Values))
	case p.Values != nil || p.Type.Read == nil:
		return value, nil
	}
	canonical, err := p.Type.Read(value)
	if errors.Is(err, ErrValue) {
		return "", &ParameterError{Name: p.Name, Value: value, Want: p.want()}
	}
	if err != nil {
		return "", fmt.Errorf("parameter %q: %w", p.Name, err)
	}
	return canonical, nil
}

// want describes the accepted values.
func (p *Param) want() string {
	switch {
	case p.Values != nil:
		return strings.Join(p.Values, " or ")
	case p.Type.Want != "":
		return p.Type.Want
	}
	return "a value"
}

// defaultWith returns the default, given the parameters declared before.
func (p *Param) defaultWith(a Args) string {
	if p.DefaultFrom != nil {
		return p.DefaultFrom(a)
	}
	return p.Default
}

// ID returns the canonical name: the name and the parameters that differ from their defaults, sorted.
func ID(name string, params []Param, a Args) string {
	var pairs []string
	for i := range params {
		p := &params[i]
		if a[p.Name] != p.defaultWith(a) {
			pairs = append(pairs, p.Name+"="+a[p.Name])
		}
	}
	if pairs == nil {
		return name
	}
	slices.Sort(pairs)
	return name + "?" + strings.Join(pairs, "&")
}

// Help lists the parameters and their values, as in "n=14 order=paper|shuffled part". The default comes first.
func Help(params []Param) string {
	var out []string
	for i := range params {
		p := &params[i]
		values := p.Values
		at := slices.Index(values, p.Default)
		if at > 0 {
			values = slices.Insert(slices.Delete(slices.Clone(values), at, at+1), 0, p.Default)
		}
		if values == nil && p.Default != "" {
			values = []string{p.Default}
		}
		text := p.Name
		if values != nil {
			text += "=" + strings.Join(values, "|")
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}
