package agents

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
func Trained() []string { return trained() }
