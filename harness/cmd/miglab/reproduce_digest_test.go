package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestArtefactsHangOnMeasurements: another number in a file of --hardware makes artefacts other work, so that what was
// made of the old number is not shown again.
func TestArtefactsHangOnMeasurements(t *testing.T) {
	const head = "gpu,gpu_name,driver,source,date,partition,size,operation,threads,runs,mean_seconds,std_seconds,min_seconds,max_seconds,total_seconds,attempts," +
		"samples,sm_clock_min_mhz,sm_clock_mean_mhz,sm_clock_max_mhz,power_mean_w,power_max_w,temperature_max_c,throttle\n"
	dir := t.TempDir()
	inputs := func(seconds string) string {
		row := "A30,NVIDIA A30,570.1,mig,2026-11-21,1,1,create,1,4,0.2,0.001,0.19," + seconds + ",0.2,1,10,1000,1000,1000,90,90,40,none\n"
		if err := os.WriteFile(filepath.Join(dir, "a30.reconfiguration.csv"), []byte(head+row), 0o600); err != nil {
			t.Fatal(err)
		}
		f := reproduceFlags{hardware: dir}
		r, err := f.reproduction(newRoot())
		if err != nil {
			t.Fatal(err)
		}
		return r.Inputs
	}
	if one, again, other := inputs("0.206"), inputs("0.206"), inputs("0.207"); one != again || one == other || one == "" {
		t.Errorf("inputs %q, the same again %q, and with another number %q", one, again, other)
	}
}
