package nn

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

func written(t testing.TB, meta Meta, parameters []float32) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteWeights(&b, meta, parameters); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// packed returns a file of a text, whatever the text says.
func packed(t testing.TB, text []byte) []byte {
	t.Helper()
	b, err := pack(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWeightsComeBack(t *testing.T) {
	actor := NewActorCritic(5, []int{17, 9}, 4, Portable(), rng(1)).Actor()
	meta := Meta{
		Network: actor.String(), Agent: "rl-direct", GPU: "A100", Workload: "WIDETIMES",
		Tasks: 14, Levels: 14, Steps: 1 << 60, Seed: math.MaxUint64,
	}
	actor.Parameters()[3] = 0
	b := written(t, meta, actor.Parameters())
	got, parameters, err := ReadWeights(b, "f")
	if err != nil {
		t.Fatal(err)
	}
	want := meta
	want.Parameters, want.Precision = len(actor.Parameters()), "float16"
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
	check := func(what string, file []byte) {
		t.Helper()
		if _, _, err := ReadWeights(file, "some.weights"); !errors.Is(err, ErrDamaged) || !strings.HasPrefix(err.Error(), "some.weights: ") {
			t.Errorf("%s: %v, want %v", what, err, ErrDamaged)
		}
	}
	text, err := unpack(good)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		check(fmt.Sprintf("first %d bytes", i), good[:i])
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		if other, err := unpack(bad); err != nil || !bytes.Equal(other, text) { // deflated text has bits without meaning
			check(fmt.Sprintf("byte %d flipped", i), bad)
		}
	}
	check("longer", append(bytes.Clone(good), 0))
	header := 20 + binary.LittleEndian.Uint32(text[12:])
	for what, change := range map[string]func(b []byte){
		"magic":        func(b []byte) { b[8] = 9 },
		"huge header":  func(b []byte) { b[15] = 0xff },
		"huge payload": func(b []byte) { b[19] = 0xff },
		"not JSON":     func(b []byte) { b[20] = '[' },
		"other key":    func(b []byte) { b[22] = 'N' },
		"count":        func(b []byte) { copy(b[bytes.Index(b, []byte(`rs":70`)):], `rs":71`) },
		"precision":    func(b []byte) { copy(b[bytes.Index(b, []byte("float16")):], "float32") },
		"NaN":          func(b []byte) { binary.LittleEndian.PutUint16(b[header:], toHalf(float32(math.NaN()))) },
		"infinite":     func(b []byte) { binary.LittleEndian.PutUint16(b[header+4:], toHalf(float32(math.Inf(-1)))) },
	} {
		bad := bytes.Clone(text)
		change(bad)
		check(what, packed(t, bad))
	}
	for i := range text {
		check(fmt.Sprintf("first %d bytes of the text", i), packed(t, text[:i]))
	}
}

// The digest names what was written: other numbers and another header change it.
func TestDigest(t *testing.T) {
	numbers := normal(rng(1), 70)
	digests := map[string]bool{}
	for _, agent := range []string{"a", "b"} {
		for range 2 {
			digests[string(Digest(written(t, Meta{Agent: agent}, numbers)))] = true
			numbers[3]++
		}
	}
	if len(digests) != 4 {
		t.Errorf("%d digests, want 4", len(digests))
	}
}

func TestWriteWeightsRefuses(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 65520} {
		if err := WriteWeights(new(bytes.Buffer), Meta{}, []float32{1, float32(v)}); err == nil {
			t.Errorf("%v is written", v)
		}
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
	f.Add([]byte(packedMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		// A hash is not found by chance: try the content with the right one too.
		for _, file := range [][]byte{b, packed(t, append(bytes.Clone(b), make([]byte, sha256.Size)...))} {
			meta, parameters, err := ReadWeights(file, "f")
			if errors.Is(err, ErrDamaged) {
				continue
			}
			if err != nil {
				t.Fatalf("%v, want %v", err, ErrDamaged)
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
