// Package external lets programs in any language compete: `exec:./my-scheduler --fast`
// names one wherever the batch and stream tracks take an algorithm. The command line is
// split at spaces and the program is found as the shell finds it; no shell is involved.
//
// A program reads JSON lines on standard input and answers on standard output; PROTOCOL.md
// is the schema, and examples/ has a scheduler in Python and one in Go. Its schedules are
// refereed like all others. What else goes wrong is an [*Error] that becomes the row of the
// instance, and the run goes on with a fresh process.
//
// Each worker has a process of its own, which is asked one instance after the other; a
// program that says so is instead asked for several at a time, in one process. It is told
// nothing that depends on the order of the instances and must let nothing of one show in
// the answer to another. So that mishaps do not depend on the order either, a process that
// fails after it has answered before is replaced and the instance asked again: what counts
// is how a fresh process ends. For the same reason there is no giving up on a program that
// always fails.
//
// Results belong to the version that the program states and to the content of the files
// that its command line names, the program itself first: when one changes, they are
// computed anew. What those files load in turn is not looked at; raise the version there.
// An argument that names no file counts for nothing, so that without its script an
// interpreter is another program.
//
// Each process leads a process group, which is killed as a whole when it takes too long,
// fails or ends, and by [Close]. On Linux the kernel also kills the process (not those that
// it has started) when miglab dies, and RLIMIT_DATA limits the memory of each process to
// what the parameter memory says; other systems have no such limit. Without process groups
// (Windows), the process alone is killed.
package external
