package nn

import (
	"bytes"
	"cmp"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Meta describes what weights are for.
type Meta struct {
	Network string `json:"network"` // the policy's String
	Agent   string `json:"agent"`   // the algorithm's name
	// GPU and Workload are what the agent was trained on.
	GPU      string `json:"gpu,omitempty"`
	Workload string `json:"workload,omitempty"`
	// Tasks and Levels are the DRL paper's N and M; 0 if they have no meaning.
	Tasks  int `json:"tasks,omitempty"`
	Levels int `json:"levels,omitempty"`
	// Environment lists the differences of the environment in training from the environment of the algorithm.
	Environment string `json:"environment,omitempty"`
	// Steps is the number of environment steps of the training, Seed its seed.
	Steps uint64 `json:"steps"`
	Seed  uint64 `json:"seed"`
	// Parameters and Precision are set by WriteWeights.
	Parameters int    `json:"parameters"`
	Precision  string `json:"precision"`
}

// Errors about weights wrap one of these.
var (
	ErrDamaged = errors.New("damaged weights")
	ErrNetwork = errors.New("weights of another network")
)

// The record of weights is the magic bytes, the lengths of header and payload (4 bytes each, little-endian), the header
// in JSON, the parameters in half precision, and the SHA-256 of all before it. A file holds one packed record.
const (
	magic         = "miglabNN\x01\x00\x00\x00"
	packedMagic   = "miglabNN\x02\x00\x00\x00"
	halfPrecision = "float16"
)

// pack returns a file with a record: magic bytes, the record's SHA-256 and, deflated, first the even and then the odd
// bytes of the record. This separates the high bytes of the parameters, which resemble one another, from the low ones.
func pack(record []byte) ([]byte, error) {
	hash := sha256.Sum256(record)
	b := bytes.NewBuffer(slices.Concat([]byte(packedMagic), hash[:]))
	w, err := flate.NewWriter(b, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	even := (len(record) + 1) / 2
	planes := make([]byte, len(record))
	for i, v := range record {
		planes[i%2*even+i/2] = v
	}
	_, err = w.Write(planes)
	err = cmp.Or(err, w.Close())
	return b.Bytes(), err
}

// unpack returns the record in a file.
func unpack(b []byte) ([]byte, error) {
	const begin = len(packedMagic) + sha256.Size
	if len(b) < begin || !bytes.HasPrefix(b, []byte(packedMagic)) {
		return nil, fmt.Errorf("it begins with %q, want %q and a SHA-256", b[:min(len(b), begin)], packedMagic)
	}
	rest := bytes.NewReader(b[begin:])
	planes, err := io.ReadAll(flate.NewReader(rest))
	if err != nil {
		return nil, err
	}
	if rest.Len() > 0 {
		return nil, fmt.Errorf("%d bytes more than expected", rest.Len())
	}
	even := (len(planes) + 1) / 2
	record := make([]byte, len(planes))
	for i := range record {
		record[i] = planes[i%2*even+i/2]
	}
	if hash := sha256.Sum256(record); !bytes.Equal(hash[:], b[len(packedMagic):begin]) {
		return nil, fmt.Errorf("SHA-256 of its text is %x, want %x", hash, b[len(packedMagic):begin])
	}
	return record, nil
}

// Digest returns the SHA-256 of the record in a file of weights, which the file contains. It does not depend on how the
// record is packed. Digest panics on a file too short to contain it.
func Digest(file []byte) []byte { return file[len(packedMagic):][:sha256.Size] }

// WriteWeights writes parameters. They must be finite, also in half precision, in which the largest number is 65504.
func WriteWeights(w io.Writer, meta Meta, parameters []float32) error {
	meta.Parameters, meta.Precision = len(parameters), halfPrecision
	header, err := json.Marshal(meta)
	if err != nil {
		return fmt.Errorf("header of weights: %w", err)
	}
	b := []byte(magic)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	b = binary.LittleEndian.AppendUint32(b, uint32(2*len(parameters)))
	b = append(b, header...)
	for i, v := range parameters {
		half := toHalf(v)
		if !finite(fromHalf(half)) {
			return fmt.Errorf("parameter %d of weights is %v, which is not finite in %s", i, v, halfPrecision)
		}
		b = binary.LittleEndian.AppendUint16(b, half)
	}
	hash := sha256.Sum256(b)
	if b, err = pack(append(b, hash[:]...)); err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

func finite(v float32) bool { return v-v == 0 }

// ReadWeights reads what WriteWeights wrote. The error names the file and wraps [ErrDamaged].
func ReadWeights(b []byte, file string) (Meta, []float32, error) {
	var meta Meta
	fail := func(format string, values ...any) (Meta, []float32, error) {
		return Meta{}, nil, fmt.Errorf("%s: %w: %s", file, ErrDamaged, fmt.Sprintf(format, values...))
	}
	b, err := unpack(b)
	if err != nil {
		return fail("%v", err)
	}
	const prefix = len(magic) + 2*4
	if !bytes.HasPrefix(b, []byte(magic)) {
		return fail("it begins with %q, want %q", b[:min(len(b), len(magic))], magic)
	}
	if len(b) < prefix+sha256.Size {
		return fail("%d bytes, want %d or more", len(b), prefix+sha256.Size)
	}
	body := b[:len(b)-sha256.Size] // unpack has checked the record
	headerSize := int(binary.LittleEndian.Uint32(b[len(magic):]))
	payloadSize := int(binary.LittleEndian.Uint32(b[len(magic)+4:]))
	if headerSize+payloadSize != len(body)-prefix {
		return fail("%d bytes of header and %d of parameters, want %d together",
			headerSize, payloadSize, len(body)-prefix)
	}
	header, payload := body[prefix:prefix+headerSize], body[prefix+headerSize:]
	if err := json.Unmarshal(header, &meta); err != nil {
		return fail("%v", err)
	}
	if canonical, err := json.Marshal(meta); err != nil || !bytes.Equal(canonical, header) {
		return fail("header %s, want %s", header, canonical)
	}
	if meta.Precision != halfPrecision || 2*meta.Parameters != len(payload) {
		return fail("%d parameters of precision %q do not make %d bytes", meta.Parameters, meta.Precision, len(payload))
	}
	parameters := make([]float32, meta.Parameters)
	for i := range parameters {
		parameters[i] = fromHalf(binary.LittleEndian.Uint16(payload[2*i:]))
		if !finite(parameters[i]) {
			return fail("parameter %d is %v", i, parameters[i])
		}
	}
	return meta, parameters, nil
}

// LoadInto copies what ReadWeights returned to a policy. It returns an [ErrNetwork] if the network or the number of
// parameters differs.
func LoadInto(p Policy, file string, meta Meta, parameters []float32) error {
	if meta.Network != p.String() {
		return fmt.Errorf("%s: %w: it holds %q, want %q", file, ErrNetwork, meta.Network, p.String())
	}
	if len(parameters) != len(p.Parameters()) {
		return fmt.Errorf("%s: %w: it holds %d parameters, want %d", file, ErrNetwork, len(parameters),
			len(p.Parameters()))
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

// fromHalf returns the value of a half-precision number.
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
