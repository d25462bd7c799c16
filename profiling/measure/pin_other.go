//go:build !linux

package measure

// pin does nothing: only Linux can keep a thread on a processor.
func pin(int, int) (restore func()) { return func() {} }
