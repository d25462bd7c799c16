package mps

import (
	"fmt"
	"strconv"
	"strings"

	"miglab/harness/mig"
)

// unlikeModel lists words in the names of boards that have another number of
// multiprocessors than their model. The model's profiles do not apply to them.
var unlikeModel = []struct {
	words string
	sms   int
}{
	{"H100 PCIe", 114},     // NVIDIA H100 Tensor Core GPU Architecture, table of the H100 PCIe and SXM5
	{"A100-SXM-64GB", 124}, // Turisini et al., LEONARDO: A Pan-European Pre-Exascale Supercomputer, 2023
}

// multiprocessors returns how many a GPU has, including those that MIG does not offer.
func multiprocessors(g *mig.GPU, name string) (int, error) {
	for _, b := range unlikeModel {
		if strings.Contains(name, b.words) {
			return 0, fmt.Errorf("%s has %d multiprocessors; how many each MIG profile has is only known for other boards of %s", name, b.sms, g)
		}
	}
	return g.Multiprocessors()
}

// percentage returns 100 n/all, cut after two decimals. If the driver rounds this limit up,
// a client has n of all multiprocessors.
func percentage(n, all int) float64 { return float64(10000*n/all) / 100 }

func formatPercentage(p float64) string { return strconv.FormatFloat(p, 'f', -1, 64) }
