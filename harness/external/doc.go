// Package external runs algorithms that are programs in any language: wherever a track takes
// an algorithm, `exec:./my-scheduler --fast` names a program. The command line is split at
// spaces, and the program is found as a shell finds it, but no shell expands the arguments.
//
// A program reads JSON lines from standard input and answers on standard output. PROTOCOL.md
// describes the messages, and examples/ has programs in Python. Batches, streams and
// co-run windows are asked as a whole. Placement and dispatch are dialogues: a program is
// asked for one decision at a time and does not see what comes later. Each track has a file
// here, with its messages and what makes an algorithm of a program.
//
// The referees and simulators check answers as they check those of this program's own
// algorithms. What else goes wrong is an [*Error], which becomes the row of the instance.
// The run then goes on with a new process.
//
// `answers:agent.jsonl` names a file with what a program answered elsewhere, for example one that
// cannot run where miglab runs. Its answers are checked and ranked in the same way.
//
// Each worker has a process of its own, which it asks about one instance after the other. Results
// must not depend on the order of the instances. So a process that fails after it has answered about an
// instance is replaced, and the instance is asked again; only the outcome with a new process
// counts. For the same reason, a program that always fails is asked every time.
//
// Results belong to the version that the program states and to the content of the files that
// its command line names, the program included. When one of them changes, results are
// recomputed. Files that those load are not looked at, so a change there needs a new version.
// An argument that names no file does not count.
//
// A process is killed when it takes too long or fails, and by [Close]. The processes that it has
// started are killed when it ends: on Unix systems those in its process group, on Windows none. On
// Linux the kernel also kills the process, but not those that it has started, when miglab dies.
// RLIMIT_DATA limits the memory of each process there; other systems have no such limit.
package external
