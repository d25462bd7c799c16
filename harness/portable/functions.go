// Package portable computes exponentials, logarithms, powers and sums, and draws normal and exponential numbers, with
// the same bits on every processor. Package math does not: it uses assembly on some processors, and the compiler fuses
// products with sums on others.
//
// All functions return the bits that Go returned on amd64 with FMA, where the results that the project keeps were
// computed. Log and Exp are off by less than 1 and 1.7 units in the last place.
package portable

import "math"

// taylor holds the coefficients of the series of (e**r-1)/r, highest power first.
var taylor = [...]float64{1. / 40320, 1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1}

// Exp returns e**x. Its method is Naoki Shibata's (Efficient evaluation methods of elementary functions suitable for
// SIMD computation, Computer Science - Research and Development 25, 2010): the series of e**(r/16)-1, doubled four
// times.
func Exp(x float64) float64 {
	const (
		overflow  = 7.09782712893384e+02
		underflow = -745.2
		ln2High   = 0.69314718055966295651160180568695068359375
		ln2Low    = 0.28235290563031577122588448175013436025525412068e-12
	)
	switch {
	case math.IsNaN(x):
		return x
	case x > overflow:
		return math.Inf(1)
	case x < underflow:
		return 0
	}
	k := math.RoundToEven(x * math.Log2E)
	r := math.FMA(-k, ln2Low, math.FMA(-k, ln2High, x)) / 16
	sum := taylor[0]
	for _, c := range taylor[1:] {
		sum = math.FMA(sum, r, c)
	}
	sum *= r
	for range 3 {
		sum *= sum + 2
	}
	return math.Ldexp(math.FMA(sum, sum+2, 1), int(k))
}

// Log returns the natural logarithm of x. It has the method and the coefficients of FreeBSD's e_log.c.
func Log(x float64) float64 {
	const (
		ln2High = 6.93147180369123816490e-01
		ln2Low  = 1.90821492927058770002e-10
	)
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log(x)
	}
	fraction, exponent := math.Frexp(x)
	if fraction < math.Sqrt2/2 {
		fraction *= 2
		exponent--
	}
	f, k := fraction-1, float64(exponent)
	s := f / (2 + f)
	s2 := float64(s * s)
	s4 := float64(s2 * s2)
	odd := polynomial(s4,
		1.479819860511658591e-01, 1.818357216161805012e-01, 2.857142874366239149e-01, 6.666666666666735130e-01)
	even := polynomial(s4, 1.531383769920937332e-01, 2.222219843214978396e-01, 3.999999999940941908e-01)
	half := float64(0.5 * f * f)
	rest := half + (float64(s2*odd) + float64(s4*even))
	return float64(k*ln2High) - ((half - (float64(s*rest) + float64(k*ln2Low))) - f)
}

// polynomial returns the value of a polynomial at x. The coefficients begin with the highest power.
func polynomial(x float64, coefficients ...float64) float64 {
	sum := 0.0
	for _, c := range coefficients {
		sum = float64(sum*x) + c
	}
	return sum
}

// Pow returns x**y by the method of [math.Pow]: it multiplies squares of x for the whole part of y, and takes the rest
// from [Exp]. It calls math.Pow itself unless x is positive and y is not huge. The error grows with y*log(x). It is
// below 5 units in the last place while the logarithm of x is at most 5 and y at most 4.
func Pow(x, y float64) float64 {
	const huge = 1 << 19 // exponents of powers below it fit into 32 bits
	switch {
	case !(x > 0) || math.IsInf(x, 1) || !(math.Abs(y) < huge):
		return math.Pow(x, y)
	case y == 0.5:
		return math.Sqrt(x)
	case y == -0.5:
		return 1 / math.Sqrt(x)
	}
	whole, part := math.Modf(math.Abs(y))
	power := 1.0
	if part > 0.5 {
		part--
		whole++
	}
	if part != 0 {
		power = Exp(part * Log(x))
	}
	exponent := 0
	square, e := math.Frexp(x)
	for i := int64(whole); i != 0; i >>= 1 {
		if i&1 == 1 {
			power *= square
			exponent += e
		}
		square = float64(square * square)
		e *= 2
		if square < 0.5 {
			square *= 2
			e--
		}
	}
	if y < 0 {
		return math.Ldexp(1/power, -exponent)
	}
	return math.Ldexp(power, exponent)
}

// Hypot returns the square root of x*x + y*y, off by less than 2 units in the last place.
func Hypot(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	large := max(x, y)
	if !(large > 0) || math.IsInf(large, 1) {
		return math.Hypot(x, y)
	}
	ratio := min(x, y) / large
	return large * math.Sqrt(1+float64(ratio*ratio))
}

// Sum returns the sum of values. It adds in eight lanes, in the order of gonum's assembly on amd64. This rounds less
// than adding one value after the other.
func Sum(values []float64) float64 {
	var lane [8]float64
	rest := values[len(values)&^7:]
	for i, v := range values[:len(values)&^7] {
		lane[i%8] += v
	}
	a := [...]float64{lane[0] + lane[6], lane[1] + lane[7]}
	b := [...]float64{lane[2] + lane[4], lane[3] + lane[5]}
	if len(rest) >= 4 {
		a[0], a[1], b[0], b[1] = a[0]+rest[0], a[1]+rest[1], b[0]+rest[2], b[1]+rest[3]
		rest = rest[4:]
	}
	a[0], a[1] = a[0]+b[0], a[1]+b[1]
	if len(rest) >= 2 {
		a[0], a[1] = a[0]+rest[0], a[1]+rest[1]
		rest = rest[2:]
	}
	sum := a[0] + a[1]
	if len(rest) == 1 {
		sum += rest[0]
	}
	return sum
}

// AddScaled adds scale*values[i] to each sums[i].
func AddScaled(sums []float64, scale float64, values []float64) {
	for i, v := range values {
		sums[i] += float64(scale * v)
	}
}
