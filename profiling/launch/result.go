package launch

import (
	"crypto/sha256"
	"fmt"

	"miglab/harness/wholefile"
)

// result returns a hash of a run's result; empty if the kernel shows no result. The error says that the run did not
// show it.
func (k *Kernel) result(p ended) (string, error) {
	switch {
	case k.Result.File != "":
		sum, err := wholefile.SHA256(k.path(k.Result.File))
		if err != nil {
			return "", fmt.Errorf("there is no result: %s %s%s", k.Result.File, fileProblem(err), p.lastWords())
		}
		return sum, nil
	case k.Result.Pattern != nil:
		matches := k.Result.Pattern.FindAllStringSubmatch(p.output, -1)
		if matches == nil {
			return "", fmt.Errorf("there is no result: the output does not match %q%s", k.Result.Pattern, p.lastWords())
		}
		h := sha256.New()
		for _, m := range matches {
			fmt.Fprintf(h, "%q", m[len(m)-1]) // the group, or else the match
		}
		return fmt.Sprintf("%x", h.Sum(nil)), nil
	}
	return "", nil
}
