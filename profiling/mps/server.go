package mps

import (
	"context"
	"fmt"

	"miglab/profiling"
)

// A Server is an MPS daemon of a GPU or of a MIG instance, whose multiprocessors its clients share. Each
// instance needs a daemon of its own.
type Server struct{ daemon }

// Serve starts the daemon of an instance. Its sockets are in a folder in dir, the path of
// which must be short. The caller closes the server before the instance is destroyed.
func Serve(ctx context.Context, dir string, on profiling.Instance) (*Server, error) {
	if err := installed(); err != nil {
		return nil, err
	}
	d, err := newDaemon(dir, on.UUID)
	if err == nil {
		err = d.start(ctx)
	}
	if err != nil {
		return nil, err
	}
	return &Server{d}, nil
}

// End ends the daemon that a killed run's [Serve] has started on an instance, if it runs.
func End(ctx context.Context, dir, uuid string) error {
	d, err := newDaemon(dir, uuid)
	if err != nil || d.gone(ctx) {
		return err
	}
	return d.stop(ctx)
}

// Share returns a limit at any percentage of the multiprocessors, for co-runs. The caller must check that it is above 0
// and at most 100; other values panic. As MPS allows, shares may add up to more than 100. A share has no profile, no ID
// and no place, and is no instance of a device.
func (s *Server) Share(percent float64) profiling.Instance {
	if !(percent > 0 && percent <= 100) {
		panic(fmt.Sprintf("mps: the share %v %% must be above 0 and at most 100", percent))
	}
	return profiling.Instance{
		UUID: fmt.Sprintf("MPS-%s/%s%%", s.gpu, formatPercentage(percent)), Env: s.limits(percent),
	}
}

// Close ends the daemon.
func (s *Server) Close() error { return s.stop(context.Background()) }

// limits is the environment of a client with a limit in percent.
func (d daemon) limits(percent float64) []string {
	return []string{
		"CUDA_VISIBLE_DEVICES=" + d.gpu,
		"CUDA_MPS_PIPE_DIRECTORY=" + d.pipe,
		"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=" + formatPercentage(percent),
	}
}
