// Package kubernetes writes what a sweep needs to run on Kubernetes: the manifest of
// an indexed Job with a pod for each task, and of a suspended Job that merges; and the
// Dockerfile of an image of the program. It sends nothing: kubectl does.
//
// The folder of the sweep, and the files that its command reads, lie on a volume that
// pods on all nodes can write to (access mode ReadWriteMany), mounted in the pods where
// the machine that submits has it, so that a path names the same file everywhere.
//
// A pod that is evicted, preempted or told to stop does not count as a failure; its task
// goes on in a new pod, which begins only after the old one has ended. A pod of a node
// that is lost ends when the cluster gives the node up. A task that fails is run again up
// to three times. There is nothing like Slurm's afterany: the merge is let go by hand.
//
// The manifest needs Kubernetes 1.29, the first release in which a Job limits the
// failures of each index (KEP-3850) without a feature gate, and meets the restricted Pod
// Security Standard. A task tells that it was stopped by exit code 130; with 0 the Job
// would take it for done.
package kubernetes
