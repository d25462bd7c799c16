package profiling

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"miglab/harness/mig"
)

// Model returns the model of a GPU by the driver's name of it, for example NVIDIA A100-SXM4-40GB. Names vary with
// the board, so it looks for the model's words in the name: H100 and NVL for H100-NVL, A100 alone for A100-80GB. Of
// several models it takes the one with the nearest memory. A board with other memory (A100 with 64 GB) has its
// model's placements, but its own profile names, which are not known here. If the memory differs by more than a
// third, the GPU is refused: it is a virtual part of a GPU, which cannot be divided.
func Model(name string, memoryMiB int) (*mig.GPU, error) {
	words := "-" + strings.ToUpper(Label(name)) + "-"
	gb := memoryMiB / 1000 // about NVIDIA's number: 40 for 40960 MiB, 81 for the 81559 MiB of an 80 GB board
	var best *mig.GPU
	var known []string
	for _, g := range mig.GPUs() {
		known = append(known, g.Name)
		board := strings.TrimSuffix(strings.ToUpper(g.Name), fmt.Sprintf("-%dGB", memory(g)))
		if strings.Contains(words, "-"+board+"-") && (best == nil || distance(g, gb) < distance(best, gb)) {
			best = g
		}
	}
	if best == nil {
		return nil, fmt.Errorf("%q is not a known MIG-capable model; known are %s", name, strings.Join(known, ", "))
	}
	if 3*distance(best, gb) > memory(best) {
		return nil, fmt.Errorf("%q has %d MiB of memory and %s has %d GB; a virtual part of a GPU cannot be divided",
			name, memoryMiB, best, memory(best))
	}
	return best, nil
}

// memory returns a model's memory in GB, according to the name of its largest profile.
func memory(g *mig.GPU) int { return g.Profiles[len(g.Profiles)-1].MemoryGB }

func distance(g *mig.GPU, gb int) int { return max(memory(g)-gb, gb-memory(g)) }

// Label turns the driver's name of a GPU into one word of letters, digits and hyphens.
func Label(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if len(words) > 1 && strings.EqualFold(words[0], "NVIDIA") {
		words = words[1:]
	}
	return strings.Join(words, "-")
}

// a100SMs is the number of multiprocessors of an A100, ten of which are outside every instance (NVIDIA A100 Tensor Core
// GPU Architecture). Of the other models, the largest instance has all multiprocessors.
const a100SMs = 108

// Board returns the name of a GPU that is measured without MIG. It is the name of the GPU's model if the driver reports
// as many multiprocessors as the model has, or if the model's number is not published. Otherwise it is the board's own
// name with the reported number, for example GH200-480GB-132SM.
func Board(name string, memoryMiB, sms int) string {
	if g, err := Model(name, memoryMiB); err == nil {
		all := g.Profile(g.ComputeSlices).SMs // 0: not published
		if strings.HasPrefix(g.Name, "A100") {
			all = a100SMs
		}
		if all == 0 || all == sms {
			return g.Name
		}
	}
	return fmt.Sprintf("%s-%dSM", Label(name), sms)
}

// Choose returns the index of the GPU that a selector names. A selector is the index itself, or the UUID or its
// beginning, in upper or lower case. An empty selector names the only GPU. A GPU that could not be identified has no
// UUID. The error is a [*DeviceError].
func Choose(selector string, gpus []Identity) (int, error) {
	chosen := 0
	var all, named []string
	for i, id := range gpus {
		all = append(all, fmt.Sprintf("%d: %s, %s", i, id.Name, id.UUID))
		byUUID := len(selector) <= len(id.UUID) && strings.EqualFold(id.UUID[:len(selector)], selector)
		if selector == "" || selector == strconv.Itoa(i) || byUUID {
			chosen, named = i, append(named, all[i])
		}
	}
	var err error
	remedy := "name one by its index or UUID"
	switch {
	case len(named) == 1:
		return chosen, nil
	case len(gpus) == 0:
		err, remedy = errors.New("the driver reports no GPU"), "see whether nvidia-smi -L lists one"
	case selector == "":
		err = fmt.Errorf("there are several: %s", strings.Join(all, "; "))
	case len(named) > 1:
		err = fmt.Errorf("%q names several: %s", selector, strings.Join(named, "; "))
	default:
		err = fmt.Errorf("there is no GPU %q; there are %s", selector, strings.Join(all, "; "))
	}
	return 0, &DeviceError{Op: "choose a GPU", Err: err, Remedy: remedy}
}

// OnOff names a MIG mode.
func OnOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
