package store

import "fmt"

// LineError says that a line of a shard cannot be read.
type LineError struct {
	File string
	// Line counts from 1; the header is line 1.
	Line int
	// Reason is what is wrong with it.
	Reason string
	// Remedy is what to do about it.
	Remedy string
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s:%d: %s; %s", e.File, e.Line, e.Reason, e.Remedy)
}

// FormatError says that another version of the program wrote a shard.
type FormatError struct {
	File string
	// Found is the format's version in the file.
	Found int
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s has format %d and this program reads format %d; use the program that wrote it, or another folder", e.File, e.Found, Format)
}

// An Origin is where a row comes from.
type Origin struct {
	File string
	// Line counts from 1; 0 means that the row is only being appended.
	Line int
}

func (o Origin) String() string {
	if o.Line == 0 {
		return o.File + " (being written)"
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

// ConflictError says that two rows disagree about a cell. As equal cells have equal
// results, an algorithm changed without a new version, or depends on more than
// its input.
type ConflictError struct {
	// Cell is the cell's JSON.
	Cell string
	// First and Second are where the rows stand.
	First, Second Origin
	// FirstOutcome and SecondOutcome are what they say.
	FirstOutcome, SecondOutcome string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("two results for cell %s: %s has %s; %s has %s; delete the wrong line, and give an algorithm that changed a new version",
		e.Cell, e.First, e.FirstOutcome, e.Second, e.SecondOutcome)
}

// BusyError says that another process, or another writer in this one, is writing to a shard.
type BusyError struct {
	File string
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("another process is writing to %s; wait for it, or give each process a shard of its own", e.File)
}
