package portable

import (
	"math"
	"math/rand/v2"
)

// A ziggurat covers the area under a density with strips of equal area (Marsaglia and Tsang, The Ziggurat Method for
// Generating Random Variables, 2000). A point in a strip is below the density if its place is less than inside, and
// place times width is its abscissa.
type ziggurat struct {
	inside         []uint32
	width, density []float32
}

// newZiggurat returns a ziggurat of so many strips, each of the given area. The first strip also has the tail of the
// density, beyond the abscissa tail. Places are whole numbers below places. inverse is the inverse of density.
func newZiggurat(strips int, tail, area, places float64, density, inverse func(float64) float64) ziggurat {
	z := ziggurat{
		inside: make([]uint32, strips), width: make([]float32, strips), density: make([]float32, strips),
	}
	base := area / density(tail)
	last := strips - 1
	z.inside[0], z.inside[1] = uint32(tail/base*places), 0
	z.width[0], z.width[last] = float32(base/places), float32(tail/places)
	z.density[0], z.density[last] = 1, float32(density(tail))
	for x, i := tail, last-1; i > 0; i-- {
		next := inverse(area/x + density(x))
		z.inside[i+1] = uint32(next / x * places)
		z.density[i], z.width[i] = float32(density(next)), float32(next/places)
		x = next
	}
	return z
}

// under draws a height in a strip and reports whether it is below the density, which is that at the drawn abscissa.
func (z *ziggurat) under(r *rand.Rand, strip int, density float64) bool {
	height := float32(float32(r.Float64()) * (z.density[strip-1] - z.density[strip]))
	return z.density[strip]+height < float32(density)
}

const (
	normalTail      = 3.442619855899
	exponentialTail = 7.69711747013104972
)

func bell(x float64) float64    { return Exp(-0.5 * x * x) }
func unbell(y float64) float64  { return math.Sqrt(-2 * Log(y)) }
func decay(x float64) float64   { return Exp(-x) }
func undecay(y float64) float64 { return -Log(y) }

var (
	normal      = newZiggurat(128, normalTail, 9.91256303526217e-3, 1<<31, bell, unbell)
	exponential = newZiggurat(256, exponentialTail, 0.0039496598225815571993, 1<<32, decay, undecay)
)

// Normal draws a number from the standard normal distribution, as [rand.Rand.NormFloat64] does.
func Normal(r *rand.Rand) float64 {
	for {
		u := r.Uint64()
		place, strip := int32(u), int(u>>32&127)
		x := float64(float64(place) * float64(normal.width[strip]))
		switch {
		case uint32(max(place, -place)) < normal.inside[strip]:
			return x
		case strip == 0:
			return math.Copysign(normalTail+beyond(r), float64(place))
		case normal.under(r, strip, bell(x)):
			return x
		}
	}
}

// beyond draws the distance of a normal number in the tail from normalTail.
func beyond(r *rand.Rand) float64 {
	for {
		x := float64(-Log(r.Float64()) * (1. / normalTail))
		y := -Log(r.Float64())
		if y+y >= float64(x*x) {
			return x
		}
	}
}

// Exponential draws a number from the exponential distribution with mean 1, as [rand.Rand.ExpFloat64] does.
func Exponential(r *rand.Rand) float64 {
	for {
		u := r.Uint64()
		place, strip := uint32(u), int(u>>32&255)
		x := float64(float64(place) * float64(exponential.width[strip]))
		switch {
		case place < exponential.inside[strip]:
			return x
		case strip == 0:
			return exponentialTail - Log(r.Float64())
		case exponential.under(r, strip, decay(x)):
			return x
		}
	}
}
