package datasets

import "testing"

// The kappa of public times is the mean slowdown by one other job, and those times can be: two shares are at most the
// whole GPU, and company makes no network faster.
func TestMeasuredKappa(t *testing.T) {
	sum, times := 0.0, MPSTimes()
	for _, m := range times {
		if 2*m.Percent > 100 || m.Alone <= 0 || m.Slowdown() < 1 || m.Source == "" {
			t.Errorf("%+v", m)
		}
		sum += m.Beside / m.Alone
	}
	if got, mean := MeasuredKappa(), sum/float64(len(times))-1; got < mean-0.005 || got > mean+0.005 {
		t.Errorf("kappa is %v, the mean %v", got, mean)
	}
}
