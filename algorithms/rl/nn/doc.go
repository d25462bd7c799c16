// Package nn holds small fully connected networks in single precision: forward and backward over batches, Adam, and
// weights files. A network's parameters are one flat slice, as are its gradients; its layers are views of them.
//
// A [Kernel] computes the products. Every build has the portable one, which gives the same bits in all of them; the
// shipped agents use it. On amd64 it keeps sums in AVX-512 or AVX registers where the processor has them. A faster
// kernel with AVX-512 vectors and fused operations, for training, needs Go's experimental package simd:
//
//	GOEXPERIMENT=simd go test ./algorithms/rl/nn
//
// Everything else, including tanh and Adam, gives the same bits in both builds. A network
// that has seen its largest batch allocates no more memory.
package nn
