// Package schedule defines schedules: which task runs on which instance of which GPU and
// when, and which instances are created and destroyed in between. [Check] is the referee.
// It lists everything that is wrong with a schedule. A schedule that it has not accepted
// has no metrics.
//
// The referee applies constraints 1-3 of FAR 2.2. An instance exists from the end of its
// create to the start of its destroy, and its tasks run within that time. Instances that
// exist, are being created or are being destroyed at the same time never share a memory
// slice. Under [mig.Sequential] one operation runs at a time on each GPU. A task runs once,
// or in parts where the problem lets tasks be stopped ([Problem.Restart]). The referee
// shares no code with a simulator or an algorithm.
//
// [Replay] runs a schedule with other durations than the planned ones.
package schedule
