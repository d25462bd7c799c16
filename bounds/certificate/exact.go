package certificate

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"miglab/harness/mig"
)

// A bound of b s claims that no schedule takes less than slackKept/slackWhole b s. The slack is far larger than the
// rounding of bounds and makespans, which are sums of floating-point numbers.
var slackKept, slackWhole = big.NewInt(1e9 - 1), big.NewInt(1e9)

// Exceeds reports whether a is greater than b by more than the slack of bounds: (1 - 1e-9) a > b, computed exactly.
// Neither may be negative. It is true if one of them is not a number. A lower bound that exceeds the value of a valid
// schedule, and a valid value that exceeds an upper bound, are contradictions.
func Exceeds[T ~float64](a, b T) bool {
	if !(a > b) || math.IsInf(float64(a), 1) {
		return !(a <= b)
	}
	return product(exact(a), slackKept).Cmp(product(exact(b), slackWhole)) > 0
}

// CheckKnown returns an error if a lower bound contradicts the makespan of a valid schedule.
func CheckKnown[T ~float64](bound, makespan T) error {
	if Exceeds(bound, makespan) {
		return fmt.Errorf("a lower bound of %v s contradicts a valid schedule of %v s: one of them is false",
			float64(bound), float64(makespan))
	}
	return nil
}

// fineBits is the number of binary places of the smallest float64, so that exact never rounds.
const fineBits = 1074

// exact returns a finite number in units of 2^-1074.
func exact[T ~float64](x T) *big.Int {
	n, _ := new(big.Float).SetMantExp(big.NewFloat(float64(x)), fineBits).Int(nil)
	return n
}

// seconds returns a number of units of 2^-1074 s in seconds, rounded.
func seconds(n *big.Int) float64 {
	x, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(n), -fineBits).Float64()
	return x
}

func product(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }

var inf = mig.Seconds(math.Inf(1))

// An amount is a whole number of units. It is less than 2^128.
type amount struct{ hi, lo uint64 }

func (a amount) less(b amount) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

func (a amount) plus(b amount) amount {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return amount{hi, lo}
}

func (a amount) minus(b amount) amount {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return amount{hi, lo}
}

func (a amount) times(n mig.Slices) amount {
	carry, lo := bits.Mul64(a.lo, uint64(n))
	return amount{a.hi*uint64(n) + carry, lo}
}

func lesser(a, b amount) amount {
	if b.less(a) {
		return b
	}
	return a
}

func greater(a, b amount) amount {
	if a.less(b) {
		return b
	}
	return a
}

func (a amount) big() *big.Int {
	hi := new(big.Int).SetUint64(a.hi)
	return hi.Lsh(hi, 64).Add(hi, new(big.Int).SetUint64(a.lo))
}

// newAmount returns a number of at most 128 bits.
func newAmount(n *big.Int) amount {
	return amount{new(big.Int).Rsh(n, 64).Uint64(), new(big.Int).And(n, lowBits).Uint64()}
}

var lowBits = new(big.Int).SetUint64(math.MaxUint64)

// limitBits is the largest number of bits of the limit of a proof. Sums of 63 such amounts are below 2^126.
const limitBits = 120

// A ruler measures times in units of 2^(unit-1074) s. It rounds times down to units and the limit up, so that a sum of
// times below the limit is also below it in units. If the limit is less than 2^46 s, durations are whole units.
type ruler struct {
	unit uint
	// limit is the bound less its slack. Times beyond it are as long as the limit.
	limit amount
	// known caches amounts by the bits of the time, because a map finds integers faster than floats.
	known map[uint64]amount
}

func newRuler(bound mig.Seconds) *ruler {
	limit := product(exact(bound), slackKept)
	unit := uint(max(0, limit.BitLen()-slackWhole.BitLen()-limitBits+1))
	whole := new(big.Int).Lsh(slackWhole, unit)
	limit.Add(limit, whole).Sub(limit, big.NewInt(1)).Quo(limit, whole)
	return &ruler{unit, newAmount(limit), map[uint64]amount{math.Float64bits(float64(inf)): newAmount(limit)}}
}

// units returns a time in units, rounded down, at most the limit.
func (r *ruler) units(t mig.Seconds) amount {
	key := math.Float64bits(float64(t))
	x, ok := r.known[key]
	if !ok {
		n := exact(t)
		x = r.limit
		if n.Rsh(n, r.unit).BitLen() <= limitBits {
			x = lesser(newAmount(n), r.limit)
		}
		r.known[key] = x
	}
	return x
}

// seconds returns an amount of time, rounded.
func (r *ruler) seconds(a amount) float64 { return seconds(new(big.Int).Lsh(a.big(), r.unit)) }
