// Package task describes the work to schedule: moldable tasks with a duration for each instance size (FAR 2.2),
// requests for instances (MFI IV), jobs with deadlines (deadline report 2.4) and programs that run together
// (hierarchical paper V). Each kind has a CSV format, whose reader refuses impossible values with a [*ParseError].
// A batch of tasks is identified by the hash of its content ([Digest]).
package task
