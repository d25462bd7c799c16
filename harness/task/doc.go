// Package task describes moldable tasks: how long each takes on an instance of
// every size (FAR 2.2). A batch is read and written as CSV and identified by the
// hash of its content.
package task
