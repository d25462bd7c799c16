package mig

import (
	"fmt"
	"strings"
)

// boards lists GPUs that do not have as many multiprocessors as the largest instance of their model, by the first words
// of their names. The first match counts.
var boards = []struct {
	prefix string
	sms    int
}{
	{"A100-SXM-64GB", 124}, // Turisini et al., LEONARDO: A Pan-European Pre-Exascale Supercomputer, 2023
	{"A100", 108},          // NVIDIA A100 Tensor Core GPU Architecture
	{"A800", 108},          // an A100 with slower NVLink
	{"H100-PCIe", 114},     // NVIDIA H100 Tensor Core GPU Architecture, table of the H100 PCIe and SXM5
}

// Multiprocessors returns the number of multiprocessors of a GPU, including those outside every MIG
// instance: an A100 has 108, and its largest instance has 98. It returns an error if the number is not known.
func (g *GPU) Multiprocessors() (int, error) {
	board := g.Board()
	for _, b := range boards {
		rest, ok := strings.CutPrefix(board, b.prefix)
		if ok && (rest == "" || rest[0] == '-') {
			return b.sms, nil
		}
	}
	for _, size := range g.Sizes() {
		if g.Profile(size).SMs == 0 {
			return 0, fmt.Errorf("nothing is published about the multiprocessors of the MIG profiles of %s", g)
		}
	}
	// An A100 or A800 has multiprocessors outside its instances; how many is not known for one under another name. On
	// A30, and on H100 and later, the largest instance has all multiprocessors.
	if strings.HasPrefix(board, "A1") || strings.HasPrefix(board, "A8") {
		return 0, fmt.Errorf("it is not known how many multiprocessors a GPU %s has outside its instances", g)
	}
	return g.Profile(g.ComputeSlices).SMs, nil
}
