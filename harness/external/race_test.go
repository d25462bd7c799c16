//go:build race

package external

// The race detector reserves more memory than programs may have.
func init() { raced = true }
