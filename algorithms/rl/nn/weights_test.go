package nn

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func written(t testing.TB, meta Meta, parameters []float32) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteWeights(&b, meta, parameters); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// signed gives a changed file the right hash.
func signed(b []byte) []byte {
	b = b[: len(b)-sha256.Size : len(b)-sha256.Size]
	hash := sha256.Sum256(b)
	return append(b, hash[:]...)
}

func TestWeightsComeBack(t *testing.T) {
	actor := NewActorCritic(5, []int{17, 9}, 4, Portable(), rng(1)).Actor()
	meta := Meta{
		Network: actor.String(), Agent: "rl-direct", GPU: "A100", Workload: "WIDETIMES", Encoding: "one-hot",
		Tasks: 14, Levels: 14, Steps: 1 << 60, Seed: math.MaxUint64,
	}
	actor.Parameters()[3] = 0
	b := written(t, meta, actor.Parameters())
	got, parameters, err := ReadWeights(bytes.NewReader(b), "f")
	if err != nil {
		t.Fatal(err)
	}
	want := meta
	want.Parameters, want.Precision, want.Hash = len(actor.Parameters()), "float16", hex.EncodeToString(b[len(b)-32:])
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for i, v := range actor.Parameters() {
		if math.Abs(float64(parameters[i]-v)) > math.Abs(float64(v))/2048+1.0/(1<<25) {
			t.Errorf("parameter %d is %v, want %v", i, parameters[i], v)
		}
	}
	fresh := NewActor(5, []int{17, 9}, 4, Portable())
	if err := LoadInto(fresh, "f", got, parameters); err != nil || fresh.Parameters()[5] != parameters[5] {
		t.Errorf("LoadInto: %v", err)
	}
	if again := written(t, meta, actor.Parameters()); !bytes.Equal(again, b) {
		t.Error("written twice, two files")
	}
}

func TestDamagedWeights(t *testing.T) {
	good := written(t, Meta{Network: "n", Agent: "a"}, normal(rng(1), 70))
	for n := range good {
		if _, _, err := ReadWeights(bytes.NewReader(good[:n]), "f"); !errors.Is(err, ErrTruncated) {
			t.Errorf("first %d bytes: %v, want %v", n, err, ErrTruncated)
		}
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		if _, _, err := ReadWeights(bytes.NewReader(bad), "f"); !isOfWeights(err) {
			t.Errorf("byte %d flipped: %v, want an error of weights", i, err)
		}
	}
}

// isOfWeights reports whether an error wraps one of the kinds of errors in weights.
func isOfWeights(err error) bool {
	kinds := []error{ErrNotWeights, ErrVersion, ErrTruncated, ErrHash, ErrHeader, ErrNotFinite, ErrNetwork}
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

func TestWeightsErrors(t *testing.T) {
	good := written(t, Meta{Network: "n", Agent: "a"}, []float32{1, 2, 3})
	header := binary.LittleEndian.Uint32(good[12:])
	change := func(f func(b []byte)) []byte {
		b := bytes.Clone(good)
		f(b)
		return signed(b)
	}
	for name, c := range map[string]struct {
		file []byte
		want error
	}{
		"empty":         {nil, ErrTruncated},
		"foreign":       {[]byte("PK\x03\x04 something else altogether"), ErrNotWeights},
		"foreign short": {[]byte("PK"), ErrNotWeights},
		"version":       {change(func(b []byte) { b[8] = 9 }), ErrVersion},
		"huge header":   {change(func(b []byte) { b[15] = 0xff }), ErrHeader},
		"huge payload":  {change(func(b []byte) { b[19] = 0xff }), ErrHeader},
		"longer":        {append(bytes.Clone(good), 0), ErrHash},
		"hash":          {append(bytes.Clone(good[:len(good)-1]), good[len(good)-1]^1), ErrHash},
		"not JSON":      {change(func(b []byte) { b[20] = '[' }), ErrHeader},
		"other key":     {change(func(b []byte) { b[22] = 'N' }), ErrHeader},
		"count": {change(func(b []byte) {
			copy(b[bytes.Index(b, []byte(`rs":3`)):], `rs":4`)
		}), ErrHeader},
		"precision": {change(func(b []byte) {
			copy(b[bytes.Index(b, []byte("float16")):], "float32")
		}), ErrHeader},
		"NaN": {change(func(b []byte) {
			binary.LittleEndian.PutUint16(b[20+header:], toHalf(float32(math.NaN())))
		}), ErrNotFinite},
		"infinite": {change(func(b []byte) {
			binary.LittleEndian.PutUint16(b[20+header+4:], toHalf(float32(math.Inf(-1))))
		}), ErrNotFinite},
	} {
		_, _, err := ReadWeights(bytes.NewReader(c.file), "some.weights")
		if !errors.Is(err, c.want) || !strings.HasPrefix(err.Error(), "some.weights: ") {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	broken := errors.New("broken disk")
	if _, _, err := ReadWeights(iotest.ErrReader(broken), "f"); !errors.Is(err, broken) {
		t.Errorf("a reader's error: %v, want %v", err, broken)
	}
}

func TestWriteWeightsRefuses(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 65520} {
		if err := WriteWeights(new(bytes.Buffer), Meta{}, []float32{1, float32(v)}); !errors.Is(err, ErrNotFinite) {
			t.Errorf("%v: %v, want %v", v, err, ErrNotFinite)
		}
	}
	if err := WriteWeights(new(bytes.Buffer), Meta{Agent: strings.Repeat("a", maxHeader)}, nil); err == nil {
		t.Error("a header beyond the limit is accepted")
	}
}

func TestLoadIntoRefusesAnotherNetwork(t *testing.T) {
	p := NewActor(3, []int{4}, 2, Portable())
	for _, c := range []struct {
		network string
		count   int
	}{{"actor 3-5-2 tanh", 26}, {p.String(), 3}} {
		if err := LoadInto(p, "f", Meta{Network: c.network}, make([]float32, c.count)); !errors.Is(err, ErrNetwork) {
			t.Errorf("%+v: %v, want %v", c, err, ErrNetwork)
		}
	}
}

// Every half-precision number comes back, and halfway cases go to the even one.
func TestHalf(t *testing.T) {
	for h := range 1 << 16 {
		v := fromHalf(uint16(h))
		if v != v {
			continue
		}
		if got := toHalf(v); int(got) != h {
			t.Errorf("%04x is %v, which is written %04x", h, v, got)
		}
	}
	for v, want := range map[float32]uint16{
		1: 0x3c00, -2: 0xc000, 65504: 0x7bff, 65519: 0x7bff, 65520: 0x7c00, 1 + 1.0/2048: 0x3c00, 1 + 3.0/2048: 0x3c02,
		1.0 / (1 << 24): 1, 1.0 / (1 << 25): 0, 3.0 / (1 << 25): 2, 1.0/(1<<14) - 1.0/(1<<26): 0x0400,
	} {
		if got := toHalf(v); got != want {
			t.Errorf("%v is written %04x, want %04x", v, got, want)
		}
	}
}

func FuzzReadWeights(f *testing.F) {
	f.Add(written(f, Meta{Network: "n", Agent: "a"}, []float32{1, -2, 3.5}))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		// A hash is not found by chance: try the content with the right one too.
		for _, file := range [][]byte{b, signed(append(bytes.Clone(b), make([]byte, sha256.Size)...))} {
			meta, parameters, err := ReadWeights(bytes.NewReader(file), "f")
			if err != nil {
				if !isOfWeights(err) {
					t.Fatalf("%v, want an error of weights", err)
				}
				continue
			}
			if meta.Parameters != len(parameters) {
				t.Fatalf("%d parameters, the header says %d", len(parameters), meta.Parameters)
			}
			for i, v := range parameters {
				if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
					t.Fatalf("parameter %d is %v", i, v)
				}
			}
		}
	})
}
