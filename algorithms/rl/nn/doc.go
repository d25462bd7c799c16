// Package nn holds small fully connected networks in single precision: forward and
// backward over batches, Adam, and weights files. A network's parameters are one
// flat slice, as are its gradients; its layers are views of them.
//
// Products are computed by a [Kernel]. The portable one is in every build and gives
// the same bits in all; what is shipped is evaluated with it. A faster one on
// AVX-512 vectors, for training, needs Go's experimental package simd:
//
//	GOEXPERIMENT=simd go test ./algorithms/rl/nn
//
// Everything but a kernel's products, tanh and Adam among it, gives the same bits
// in both builds. Once a network has seen its largest batch, nothing allocates.
package nn
