// Package schedule holds what schedulers answer: which task runs on which
// instance of which GPU and when, and which instances are created and destroyed
// in between. [Check] is the referee: it lists everything that is wrong with a
// schedule, and a schedule that it has not passed has no metrics.
//
// The referee reads FAR 2.2, constraints 1-3, operationally: an instance exists
// from the end of its create to the start of its destroy; its tasks run within;
// instances that exist, are being created or are being destroyed at the same time
// never share a memory slice; under [mig.Sequential] one operation runs at a time
// on each GPU. It shares no code with a simulator or an algorithm.
package schedule
