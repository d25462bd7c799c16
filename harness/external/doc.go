// Package external runs algorithms that are programs in any language: wherever a track takes
// an algorithm, `exec:./my-scheduler --fast` names a program. The command line is split at
// spaces, and the program is found as a shell finds it, but no shell expands the arguments.
//
// A program reads JSON lines from standard input and answers on standard output. PROTOCOL.md describes the messages,
// and algorithms/rl/python has a package that speaks them. A program gets a batch or a co-run window as a whole, and a
// stream batch by batch. A batch may be answered with a plan, which the clock of [algo.NewClock] times. Placement and
// dispatch are dialogues: a program is asked for one decision at a time and does not see later requests or jobs. Each
// track has a file here, with its messages and its constructor of algorithms.
//
// The referees and simulators check a program's answers like the answers of built-in algorithms. Any other failure is
// an [*Error], which becomes the row of the instance. The run then continues with a new process.
//
// Each worker has its own process, which it asks about one instance after the other. Results must not depend on the
// order of the instances. Therefore, if a process that has answered about another instance crashes, breaks the protocol
// or takes too long, the instance is asked again with a new process, and only that outcome counts. For the same reason,
// a program that always fails is asked every time.
//
// Results belong to the version that the program states and to the content of the files in its
// command line, including the program. When one of them changes, results are recomputed. Files
// that the program loads do not count, so a change there needs a new version.
//
// A process is killed when it takes too long or fails, and by [Close]. When it ends, the processes that it
// has started are killed: on Unix systems its process group; on Windows they stay. On Linux the kernel
// also kills the process, but not the processes that it has started, when miglab dies. RLIMIT_DATA
// limits the memory of each process there; other systems have no such limit.
package external
