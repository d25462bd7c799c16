package profiling

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/nearest"
)

// WritePartition writes a partition of a model as JSON, with the first memory slice
// of every instance and their number, as nvidia-smi mig -lgi prints them: the one
// format that keeps placements.
//
//	{"gpu":"A100","instances":[{"profile":"3g.20gb","start":4,"length":4}]}
func WritePartition(w io.Writer, g *mig.GPU, p mig.Partition) error {
	type instance struct {
		Profile string     `json:"profile"`
		Start   mig.Slices `json:"start"`
		Length  mig.Slices `json:"length"`
	}
	instances := []instance{}
	for _, in := range p {
		instances = append(instances, instance{in.Profile.String(), in.Start, in.Profile.Length})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		GPU       string     `json:"gpu"`
		Instances []instance `json:"instances"`
	}{g.Name, instances})
}

// ReadPartition reads what [WritePartition] writes, instances in any order. It is
// strict: fields that are unknown, missing, there twice or of the wrong type, a GPU or
// profile that is not known (a [*nearest.UnknownError]), an instance at a slice where
// its profile cannot begin, of another length, or beside others that it cannot exist
// with, and text after the end are errors. Errors name the file and the line.
func ReadPartition(r io.Reader, file string) (*mig.GPU, mig.Partition, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	d := &partitionReader{Decoder: json.NewDecoder(bytes.NewReader(text)), text: text}
	d.UseNumber()
	g, p, err := d.partition()
	if err != nil {
		return nil, nil, fmt.Errorf("%s:%d: %w", file, 1+bytes.Count(text[:d.at], []byte{'\n'}), err)
	}
	return g, p, nil
}

// A partitionReader reads the tokens of a file and knows where it is.
type partitionReader struct {
	*json.Decoder
	text []byte
	// at is where the last token begins, or what an error is about.
	at int64
}

// writtenInstance is an instance as the file has it.
type writtenInstance struct {
	profile       string
	start, length int
	at            int64
}

func (d *partitionReader) partition() (*mig.GPU, mig.Partition, error) {
	var model string
	var modelAt int64
	var written []writtenInstance
	err := d.object(map[string]func() error{
		"gpu": func() (err error) {
			model, err = d.str()
			modelAt = d.at
			return err
		},
		"instances": func() (err error) {
			written, err = d.instances()
			return err
		},
	})
	if err != nil {
		return nil, nil, err
	}
	if rest := bytes.TrimLeft(d.text[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		d.at = int64(len(d.text) - len(rest))
		return nil, nil, errors.New("there is more text after the partition")
	}
	d.at = modelAt
	g, err := mig.Lookup(model)
	if err != nil {
		return nil, nil, err
	}
	p := mig.Partition{}
	for _, w := range written {
		d.at = w.at
		in, err := w.on(g)
		if err == nil {
			err = Conflict(p, in)
		}
		if err != nil {
			return nil, nil, err
		}
		p = append(p, in)
	}
	slices.SortFunc(p, func(a, b mig.Instance) int { return cmp.Compare(a.Start, b.Start) })
	return g, p, nil
}

// on is the instance on a model.
func (w *writtenInstance) on(g *mig.GPU) (mig.Instance, error) {
	p, err := g.ProfileByName(w.profile)
	switch {
	case err != nil:
		return mig.Instance{}, err
	case !slices.Contains(p.Starts, mig.Slices(w.start)):
		return mig.Instance{}, fmt.Errorf("%s cannot start at %d; it may start at %v", p, w.start, p.Starts)
	case mig.Slices(w.length) != p.Length:
		return mig.Instance{}, fmt.Errorf("%s has the length %d, not %d", p, p.Length, w.length)
	}
	return mig.Instance{Profile: p, Start: mig.Slices(w.start)}, nil
}

func (d *partitionReader) instances() ([]writtenInstance, error) {
	if err := d.delim('[', "a list of instances"); err != nil {
		return nil, err
	}
	var out []writtenInstance
	for d.More() {
		var w writtenInstance
		err := d.object(map[string]func() error{
			"profile": func() (err error) { w.profile, err = d.str(); w.at = d.at; return err },
			"start":   func() (err error) { w.start, err = d.integer(); return err },
			"length":  func() (err error) { w.length, err = d.integer(); return err },
		})
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	_, err := d.token()
	return out, err
}

// object reads an object with exactly these fields, in any order.
func (d *partitionReader) object(fields map[string]func() error) error {
	if err := d.delim('{', "an object"); err != nil {
		return err
	}
	known := make([]string, 0, len(fields))
	for name := range fields {
		known = append(known, name)
	}
	slices.Sort(known)
	seen := map[string]bool{}
	for d.More() {
		t, err := d.token()
		if err != nil {
			return err
		}
		name := t.(string) // of a key, Token returns nothing else
		read := fields[name]
		switch {
		case read == nil:
			return nearest.Unknown("field", name, known)
		case seen[name]:
			return fmt.Errorf("the field %q is there twice", name)
		}
		seen[name] = true
		if err := read(); err != nil {
			return err
		}
	}
	if _, err := d.token(); err != nil {
		return err
	}
	for _, name := range known {
		if !seen[name] {
			return fmt.Errorf("the field %q is missing", name)
		}
	}
	return nil
}

// token returns the next token.
func (d *partitionReader) token() (json.Token, error) {
	d.at = d.InputOffset()
	for d.at < int64(len(d.text)) && strings.IndexByte(" \t\r\n,:", d.text[d.at]) >= 0 {
		d.at++
	}
	t, err := d.Token()
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("the text ends before the partition does")
	case err != nil:
		return nil, fmt.Errorf("this is not JSON: %w", err)
	}
	return t, nil
}

// show words a token for an error.
func show(t json.Token) string {
	if t == nil {
		return "null"
	}
	return fmt.Sprint(t)
}

func (d *partitionReader) delim(want json.Delim, what string) error {
	t, err := d.token()
	if err == nil && t != want {
		err = fmt.Errorf("%s is not %s", show(t), what)
	}
	return err
}

func (d *partitionReader) str() (string, error) {
	t, err := d.token()
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", fmt.Errorf("%s is not a string", show(t))
	}
	return s, nil
}

func (d *partitionReader) integer() (int, error) {
	t, err := d.token()
	if err != nil {
		return 0, err
	}
	n, ok := t.(json.Number)
	if !ok {
		return 0, fmt.Errorf("%s is not a whole number", show(t))
	}
	i, err := strconv.Atoi(n.String())
	if err != nil {
		return 0, fmt.Errorf("%s is not a whole number", n)
	}
	return i, nil
}
