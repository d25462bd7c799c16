package kernels

import "unsafe"

// The kernels' inputs are functions of a seed and an index (see random_bits in common.h): outputs of the generator
// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func randomBits(seed, index uint64) uint64 {
	return mix(mix(seed) + (index+1)*0x9e3779b97f4a7c15)
}

// randomBelow returns a number from 0 to n-1, for n up to 2^32.
func randomBelow(seed, index, n uint64) uint64 { return randomBits(seed, index) >> 32 * n >> 32 }

// uniform returns a multiple of 2^-24 in [0, 1).
func uniform(seed, index uint64) float32 {
	return float32(randomBits(seed, index)>>40) * (1.0 / (1 << 24))
}

// bytesOf returns the memory of values.
func bytesOf[T any](values []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), uintptr(len(values))*unsafe.Sizeof(zero))
}
