// Package filelock locks files. A lock excludes every other Open of the file, in this process and in others. The system
// lifts a lock when the file is closed or when the process ends, even by SIGKILL.
//
// On systems without flock, Open takes no lock. There, users must not start two runs on one GPU.
package filelock
