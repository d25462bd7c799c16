package agents

import "strings"

// Networks returns the descriptions of all networks that agents load, by the name of
// their weights.
func Networks() map[string]string {
	out := map[string]string{}
	for name, p := range networks() {
		out[name] = p.String()
	}
	return out
}

// Trained lists the names of the embedded weights.
func Trained() []string {
	entries, err := weights.ReadDir("weights")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), Extension); ok {
			names = append(names, name)
		}
	}
	return names
}
