// Package slurmtest starts a real Slurm for tests: munged, slurmctld and some slurmd, on
// one machine, as whoever runs the test, without systemd and without a trace. The daemons
// have a configuration, a key, ports and a state folder of their own, so that clusters of
// several tests run beside each other and beside one that the machine may belong to, and
// they listen on loopback alone.
//
// Slurm's timers are set as short as it can bear: a lost node is given up after seconds, a
// job that is requeued starts again within seconds. It refuses to run where a daemon would
// listen on other addresses: see [Start].
package slurmtest
