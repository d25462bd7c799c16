// Package gym serves the environments of package env over a pipe, many at once, to a program in any language.
// ../python/PROTOCOL.md has the protocol, and ../python speaks it.
package gym

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"miglab/harness/nearest"
	"miglab/harness/strictjson"
)

// Protocol is the version of the protocol.
const Protocol = 1

// A request is the first line of a client. It says which environments to open.
type request struct {
	Protocol    int    `json:"protocol"`
	Environment string `json:"environment"`
	// Envs is the number of environments. Environment i draws its episodes from a stream with the seed Seed+i.
	Envs int    `json:"envs"`
	Seed uint64 `json:"seed"`
	// Invalid chooses the effect of an action that the mask does not allow: "error" refuses the message, "nearest"
	// takes the allowed action with the nearest number, and "end" truncates the episode with the reward 0.
	Invalid string         `json:"invalid"`
	Options jsontext.Value `json:"options"`
}

// maxRequest is the size of the first line, in bytes.
const maxRequest = 1 << 16

// Serve opens the environments that the first line of in asks for, and answers messages until in ends. The client gets
// the error of a message, and may go on; any other error ends the service.
func Serve(in io.Reader, out io.Writer) error {
	r := bufio.NewReaderSize(in, maxRequest)
	line, err := r.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("the first line of the input, at most %d bytes of JSON, says which environments to open: %w",
			maxRequest, err)
	}
	v, err := open(line)
	if err != nil {
		return err
	}
	reply, err := json.Marshal(v.describe())
	if err != nil {
		return err
	}
	reply = append(reply, '\n')
	for {
		if _, err := out.Write(reply); err != nil {
			return err
		}
		switch n, err := io.ReadFull(r, v.message); {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("the input ends after %d of the %d bytes of a message: %w", n, len(v.message), err)
		}
		reply = v.reply()
	}
}

// open reads a request and makes its environments.
func open(line []byte) (*vector, error) {
	var version struct{ Protocol int }
	if err := json.Unmarshal(line, &version); err == nil && version.Protocol != Protocol {
		return nil, fmt.Errorf("the client speaks version %d of the protocol and this program version %d; "+
			"install both from one release", version.Protocol, Protocol)
	}
	o := request{Envs: 1, Invalid: "error", Options: jsontext.Value("{}")}
	if err := strictjson.Line(line, &o); err != nil {
		return nil, fmt.Errorf("the first line: %w", err)
	}
	if known := []string{"error", "nearest", "end"}; !slices.Contains(known, o.Invalid) {
		return nil, nearest.Unknown("value of invalid", o.Invalid, known)
	}
	return newVector(&o)
}

// describe returns what a client must know about the environments. Bounds has the count, the low and the high of
// consecutive values of an observation, without those that are not known.
func (v *vector) describe() map[string]any {
	var bounds [][3]any
	for _, b := range v.envs[0].Bounds() {
		row := [3]any{b.Count}
		for i, x := range []float64{b.Low, b.High} {
			if !math.IsInf(x, 0) {
				row[1+i] = x
			}
		}
		bounds = append(bounds, row)
	}
	return map[string]any{
		"protocol": Protocol, "observation": v.shape.Observation, "actions": v.shape.Actions, "bounds": bounds,
		"facts": append([]string{}, v.facts...), "metrics": v.metrics, "instances": v.instances,
	}
}

// reply carries out the message and returns the reply. It begins with the lengths of an error and of answers.
func (v *vector) reply() []byte {
	err := v.apply()
	if err != nil {
		return append(lengths(len(err.Error()), 0), err.Error()...)
	}
	copy(v.frame, lengths(0, len(v.answers)))
	return append(v.frame, v.answers...)
}

func lengths(problem, answers int) []byte {
	return binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(nil, uint32(problem)), uint32(answers))
}

// carve returns the first n values of a type in memory, and the memory behind them. The byte order is this machine's.
func carve[T any](memory []byte, n int) (values []T, rest []byte) {
	values = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory))), n)
	return values, memory[n*int(unsafe.Sizeof(*new(T))):]
}
