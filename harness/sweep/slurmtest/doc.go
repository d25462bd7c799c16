// Package slurmtest starts a real Slurm for tests: munged, slurmctld and some slurmd, on
// one machine, as whoever runs the test, without systemd and without a trace. The daemons
// have a configuration, a key, ports and a state folder of their own, so that clusters of
// several tests run beside each other and beside one that the machine may belong to, and
// they listen on loopback alone.
//
// Slurm's timers are set about as short as it bears: a node that is lost is given up after
// half a minute, and a job that is requeued starts again after some seconds. A time limit
// still has minutes for a unit, and is looked at every half a minute.
package slurmtest
