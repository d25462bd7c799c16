// Package schedule defines schedules: which task runs on which instance of which GPU and when, and which instances
// are created and destroyed in between. [Check] is the referee: it lists all violations of a schedule. [Measure]
// refuses to measure a schedule with a violation.
//
// The referee applies constraints 1-3 of FAR 2.2. An instance exists from the end of its create to the start of its
// destroy, and its tasks run within that time. Instances that exist, are being created or are being destroyed at the
// same time never share a memory slice. Under [mig.Sequential] one operation runs at a time on each GPU. A task runs
// once, or in parts if the problem lets tasks be stopped ([Problem.Restart]). The referee shares no code with a
// simulator or an algorithm.
//
// [Encode] and [Decode] write and read schedules as JSON.
package schedule
