package nn

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// Meta describes what weights are for.
type Meta struct {
	// Network is the policy's String.
	Network string `json:"network"`
	// Agent is the algorithm's name.
	Agent string `json:"agent"`
	// GPU and Workload are what the agent was trained on; Encoding is how it sees the tasks.
	GPU      string `json:"gpu,omitempty"`
	Workload string `json:"workload,omitempty"`
	Encoding string `json:"encoding,omitempty"`
	// Tasks and Levels are the DRL paper's N and M; 0 if they have no meaning.
	Tasks  int `json:"tasks,omitempty"`
	Levels int `json:"levels,omitempty"`
	// Steps is the number of environment steps of the training, Seed its seed.
	Steps uint64 `json:"steps"`
	Seed  uint64 `json:"seed"`
	// Parameters and Precision are set by WriteWeights.
	Parameters int    `json:"parameters"`
	Precision  string `json:"precision"`
	// Hash is the hexadecimal SHA-256 that the file ends with, set by ReadWeights.
	Hash string `json:"-"`
}

// The kinds of errors in weights, which name the file and say more.
var (
	ErrNotWeights = errors.New("not a weights file")
	ErrVersion    = errors.New("unknown version of weights")
	ErrTruncated  = errors.New("truncated weights")
	ErrHash       = errors.New("damaged weights")
	ErrHeader     = errors.New("malformed header of weights")
	ErrNotFinite  = errors.New("weights that are not finite")
	ErrNetwork    = errors.New("weights of another network")
)

// A file is the magic bytes, the version, the lengths of header and payload (4
// bytes each, little-endian), the header in JSON, the parameters in half precision, and the
// SHA-256 of all before it.
const (
	magic         = "miglabNN"
	version       = 1
	prefix        = len(magic) + 3*4
	maxHeader     = 1 << 12
	maxParameters = 1 << 24
	maxSize       = 2 * maxParameters
	halfPrecision = "float16"
)

// WriteWeights writes parameters. They must be finite, also in half precision, in which the
// largest number is 65504.
func WriteWeights(w io.Writer, meta Meta, parameters []float32) error {
	if len(parameters) > maxParameters {
		return fmt.Errorf("%d weights: a file holds at most %d", len(parameters), maxParameters)
	}
	size := 2 * len(parameters)
	meta.Parameters, meta.Precision = len(parameters), halfPrecision
	header, err := json.Marshal(meta)
	if err != nil {
		return fmt.Errorf("header of weights: %w", err)
	}
	if len(header) > maxHeader {
		return fmt.Errorf("header of weights: %d bytes, at most %d fit", len(header), maxHeader)
	}
	b := make([]byte, 0, prefix+len(header)+size+sha256.Size)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	b = append(b, header...)
	for i, v := range parameters {
		half := toHalf(v)
		if !finite(fromHalf(half)) {
			return fmt.Errorf("to be written: %w: parameter %d is %v, in %s not finite", ErrNotFinite, i, v, halfPrecision)
		}
		b = binary.LittleEndian.AppendUint16(b, half)
	}
	hash := sha256.Sum256(b)
	_, err = w.Write(append(b, hash[:]...))
	return err
}

func finite(v float32) bool { return v-v == 0 }

// ReadWeights reads what WriteWeights wrote. Errors name the file; they are the reader's
// or wrap one of the kinds above. Memory is allocated as the data arrives, so that a damaged length
// allocates no memory.
func ReadWeights(r io.Reader, file string) (Meta, []float32, error) {
	var meta Meta
	fail := func(kind error, format string, values ...any) (Meta, []float32, error) {
		return Meta{}, nil, fmt.Errorf("%s: %w: %s", file, kind, fmt.Sprintf(format, values...))
	}
	const limit = prefix + maxHeader + maxSize + sha256.Size
	b, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return Meta{}, nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(b) < len(magic) && bytes.HasPrefix([]byte(magic), b) {
		return fail(ErrTruncated, "%d bytes, not even the magic ones", len(b))
	}
	if !bytes.HasPrefix(b, []byte(magic)) {
		return fail(ErrNotWeights, "it begins with %q, want %q", b[:min(len(b), len(magic))], magic)
	}
	if len(b) < prefix {
		return fail(ErrTruncated, "%d bytes, want %d for the lengths alone", len(b), prefix)
	}
	field := func(i int) int { return int(binary.LittleEndian.Uint32(b[len(magic)+4*i:])) }
	if field(0) != version {
		return fail(ErrVersion, "version %d, want %d", field(0), version)
	}
	headerSize, size := field(1), field(2)
	if headerSize > maxHeader || size > maxSize {
		return fail(ErrHeader, "lengths %d and %d, at most %d and %d are right", headerSize, size, maxHeader, maxSize)
	}
	end := prefix + headerSize + size
	switch total := end + sha256.Size; {
	case len(b) < total:
		return fail(ErrTruncated, "%d bytes, want %d", len(b), total)
	case len(b) > total:
		return fail(ErrHash, "%d bytes or more, want %d", len(b), total)
	}
	hash := sha256.Sum256(b[:end])
	if !bytes.Equal(hash[:], b[end:]) {
		return fail(ErrHash, "SHA-256 is %x, want %x", hash, b[end:])
	}
	header := b[prefix : prefix+headerSize]
	if err := json.Unmarshal(header, &meta); err != nil {
		return fail(ErrHeader, "%v", err)
	}
	if canonical, err := json.Marshal(meta); err != nil || !bytes.Equal(canonical, header) {
		return fail(ErrHeader, "%s, want %s", header, canonical)
	}
	if meta.Precision != halfPrecision || 2*meta.Parameters != size {
		return fail(ErrHeader, "%d parameters of precision %q do not make %d bytes", meta.Parameters, meta.Precision, size)
	}
	parameters := make([]float32, meta.Parameters)
	for i := range parameters {
		parameters[i] = fromHalf(binary.LittleEndian.Uint16(b[prefix+headerSize+2*i:]))
		if !finite(parameters[i]) {
			return fail(ErrNotFinite, "parameter %d is %v", i, parameters[i])
		}
	}
	meta.Hash = hex.EncodeToString(hash[:])
	return meta, parameters, nil
}

// LoadInto copies what ReadWeights returned to a policy of the same description.
func LoadInto(p Policy, file string, meta Meta, parameters []float32) error {
	if meta.Network != p.String() {
		return fmt.Errorf("%s: %w: it holds %q, want %q", file, ErrNetwork, meta.Network, p.String())
	}
	if len(parameters) != len(p.Parameters()) {
		return fmt.Errorf("%s: %w: it holds %d parameters, want %d", file, ErrNetwork, len(parameters), len(p.Parameters()))
	}
	copy(p.Parameters(), parameters)
	return nil
}

// toHalf rounds to the nearest half-precision number, ties to even (IEEE 754).
func toHalf(v float32) uint16 {
	bits := math.Float32bits(v)
	sign := uint16(bits >> 16 & 0x8000)
	magnitude := bits &^ (1 << 31)
	switch {
	case magnitude > 0x7f800000:
		return sign | 0x7e00
	case magnitude >= 0x477ff000: // 65520 and above round to infinity
		return sign | 0x7c00
	case magnitude < 0x38800000: // below 2⁻¹⁴: multiples of 2⁻²⁴
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(magnitude))*(1<<24)))
	}
	odd := magnitude >> 13 & 1
	return sign | uint16((magnitude-(112<<23)+0xfff+odd)>>13)
}

func fromHalf(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exponent, fraction := uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0:
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)/(1<<24)))
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
