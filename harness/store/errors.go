package store

import (
	"errors"
	"fmt"
)

// ConflictError says that two results disagree about a cell. Equal cells have equal results, so
// an algorithm changed without a new version, or depends on more than its input.
type ConflictError struct {
	Series        Series
	Instance      int
	First, Second string // each a file and the result that it has
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("two results for %v, instance %d: %s; %s; remove the wrong file, or give an algorithm that "+
		"changed a new version",
		e.Series, e.Instance, e.First, e.Second)
}

// Damage says that a database is not as it was written.
type Damage struct {
	File   string `json:"path"`
	Reason string `json:"reason"` // a sentence without its full stop
}

func (d *Damage) Error() string {
	return fmt.Sprintf("%s is damaged (%s); move it out of the folder, and its results will be computed again, or "+
		"rescue what is intact with: sqlite3 FILE .recover | sqlite3 NEWFILE; other files are not affected",
		d.File, d.Reason)
}

// damage returns the [*Damage] of the database.
func (f *file) damage(format string, args ...any) error {
	return &Damage{File: f.path, Reason: fmt.Sprintf(format, args...)}
}

// FormatError says that a database has a version of the schema that this program does not read.
type FormatError struct {
	File   string
	Format int
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s has format %d and this program reads format %d; use the program that wrote it, or "+
		"another folder", e.File, e.Format, Format)
}

// A sqliteError is an error of SQLite, whose code is a primary result code in its low byte.
type sqliteError interface {
	error
	Code() int
}

// Some of SQLite's primary result codes, from https://sqlite.org/rescode.html.
const (
	permCode      = 3
	busyCode      = 5
	lockedCode    = 6
	noMemoryCode  = 7
	readOnlyCode  = 8
	interruptCode = 9
	ioCode        = 10
	fullCode      = 13
	cantOpenCode  = 14
	protocolCode  = 15
)

// errorCode returns SQLite's primary result code of an error, or 0.
func errorCode(err error) int {
	if e, ok := errors.AsType[sqliteError](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// explainError turns an error of SQLite into a [*Damage] or an error that says what to do. It returns all other errors
// as they are.
func explainError(path string, err error) error {
	advice := ""
	switch errorCode(err) {
	case 0:
		return err
	case fullCode:
		advice = "; the disk is full, and what was committed before is kept: free some space and run the same " +
			"command again"
	case busyCode:
		advice = fmt.Sprintf("; another process has been using it for %v: run the same command again when that is done",
			patience)
	case permCode, readOnlyCode, cantOpenCode, ioCode:
		advice = "; check that the folder can be written to and its disk has room, or copy the folder to " +
			"where you can write, and run the same command again"
	case lockedCode, noMemoryCode, interruptCode, protocolCode:
	default:
		return &Damage{File: path, Reason: err.Error()} // The statements are right, so the file is not.
	}
	return fmt.Errorf("%s: %v%s", path, err, advice) // Without %w a second call does not explain it again.
}
