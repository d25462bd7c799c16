package portable_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"miglab/harness/portable"
)

const precision = 200 // bits of the true values

// bigExp returns e**x: the series of e**(x/2**20), squared 20 times.
func bigExp(x *big.Float) *big.Float {
	r := new(big.Float).SetMantExp(x, -20)
	sum, term := big.NewFloat(1).SetPrec(precision), big.NewFloat(1).SetPrec(precision)
	for i := int64(1); term.Sign() != 0 && term.MantExp(nil) > -precision; i++ {
		term.Mul(term, r)
		term.Quo(term, new(big.Float).SetInt64(i))
		sum.Add(sum, term)
	}
	for range 20 {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigLog returns the logarithm of x by one step of Newton's method, whose error is the cube of the first value's.
func bigLog(x float64) *big.Float {
	y := new(big.Float).SetPrec(precision).SetFloat64(math.Log(x))
	e, v := bigExp(y), new(big.Float).SetPrec(precision).SetFloat64(x)
	step := new(big.Float).Quo(new(big.Float).Sub(v, e), new(big.Float).Add(v, e))
	return y.Add(y, step.Mul(step, big.NewFloat(2)))
}

// ulps returns by how many units in the last place a value is off.
func ulps(got float64, want *big.Float) float64 {
	off := new(big.Float).Sub(want, new(big.Float).SetFloat64(got))
	f, _ := off.SetMantExp(off, 53-want.MantExp(nil)).Float64()
	return math.Abs(f)
}

func TestFunctionsAreNearTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	between := func(low, high float64) float64 { return low + float64(rng.Float64()*(high-low)) }
	for _, test := range []struct {
		name    string
		allowed float64
		compare func() float64
	}{
		{"Exp", 1.7, func() float64 {
			x := between(-700, 700) * between(0, 1) * between(0, 1)
			return ulps(portable.Exp(x), bigExp(new(big.Float).SetPrec(precision).SetFloat64(x)))
		}},
		{"Log", 1, func() float64 {
			x := math.Exp(between(-700, 700) * between(0, 1) * between(0, 1))
			return ulps(portable.Log(x), bigLog(x))
		}},
		{"Pow", 5, func() float64 {
			x, y := math.Exp(between(-5, 5)), between(-4, 4)
			power := bigLog(x)
			return ulps(portable.Pow(x, y), bigExp(power.Mul(power, big.NewFloat(y))))
		}},
		{"Hypot", 2, func() float64 {
			x, y := between(-1e3, 1e3), between(-1, 1)
			square := func(v float64) *big.Float { b := new(big.Float).SetPrec(precision).SetFloat64(v); return b.Mul(b, b) }
			sum := square(x)
			return ulps(portable.Hypot(x, y), sum.Sqrt(sum.Add(sum, square(y))))
		}},
	} {
		worst := 0.0
		for range 10_000 {
			worst = max(worst, test.compare())
		}
		t.Logf("%s is off by up to %.3f units in the last place", test.name, worst)
		if worst > test.allowed || worst < 0.4 {
			t.Errorf("%s is off by up to %.3f units in the last place, want at most %v", test.name, worst, test.allowed)
		}
	}
}

// The results that the project keeps were computed with the functions of math on amd64, and gonum's sums.
func TestFunctionsGiveTheBitsOfAMD64(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("compares with amd64's functions")
	}
	rng := rand.New(rand.NewPCG(3, 4))
	special := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, 1e300, -1e300, 1e-300, math.Inf(1), math.Inf(-1), math.NaN(), 709.8, 1 << 40}
	draw := func() float64 {
		if rng.IntN(20) == 0 {
			return special[rng.IntN(len(special))]
		}
		return rng.NormFloat64() * math.Pow(10, float64(rng.IntN(6)-3))
	}
	same := func(name string, got, want float64, of ...float64) {
		if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%s%v is %v, amd64 has %v", name, of, got, want)
		}
	}
	values := make([]float64, 1000)
	for i := range 300_000 {
		x, y := draw(), draw()
		same("Exp", portable.Exp(x), math.Exp(x), x)
		same("Log", portable.Log(x), math.Log(x), x)
		same("Pow", portable.Pow(x, y), math.Pow(x, y), x, y)
		same("Hypot", portable.Hypot(x, y), math.Hypot(x, y), x, y)
		values[i%1000] = x
		if n := i % 200; i%37 == 0 {
			clean := slices.DeleteFunc(slices.Clone(values[:n]), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
			same("Sum", portable.Sum(clean), floats.Sum(clean))
		}
	}
}

func TestNumbersAreThoseOfMathRand(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("compares with amd64's numbers")
	}
	a, b := rand.New(rand.NewPCG(5, 6)), rand.New(rand.NewPCG(5, 6))
	tails := 0
	for range 2_000_000 {
		x, y := portable.Normal(a), b.NormFloat64()
		if x != y {
			t.Fatalf("the normal number is %v, want %v", x, y)
		}
		if math.Abs(x) > 3.45 {
			tails++
		}
		if x, y := portable.Exponential(a), b.ExpFloat64(); x != y {
			t.Fatalf("the exponential number is %v, want %v", x, y)
		}
	}
	if tails < 500 {
		t.Errorf("only %d normal numbers were drawn from the tail", tails)
	}
}
