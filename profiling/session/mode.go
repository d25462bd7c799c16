package session

import (
	"fmt"
	"strings"

	"miglab/harness/nearest"
	"miglab/profiling"
)

// turnOn turns MIG on if it is off and needed. admit has checked that the user allows it.
func (s *Session) turnOn() (err error) {
	if s.identity.MIG {
		return nil
	}
	s.journal.TurnedOn = true
	if err := s.write(); err != nil {
		return err
	}
	if err := s.device.SetMIG(true); err != nil {
		return err
	}
	if s.identity, err = s.device.Identify(); err != nil {
		return err
	}
	if !s.identity.MIG {
		return fmt.Errorf("MIG mode of %s stays off until a reset%s; end the processes that use the GPU (%s) "+
			"and try again",
			s.identity.UUID, s.heldBy(), monitors)
	}
	s.o.Log("turned on MIG mode of %s", s.identity.UUID)
	return nil
}

// restore turns MIG off if the session turned it on, unless others use instances now.
func (s *Session) restore() error {
	if !s.journal.TurnedOn {
		return nil
	}
	id, err := s.device.Identify()
	if err != nil {
		return err
	}
	if !id.MIG && !id.MIGPending {
		return nil
	}
	exist, err := s.device.Instances()
	if err != nil {
		return err
	}
	if len(exist) > 0 {
		s.o.Log("MIG mode of %s stays on: %s exists, which this run did not make", id.UUID, describe(exist[0]))
		return nil
	}
	if err := s.device.SetMIG(false); err != nil {
		return err
	}
	if id, err = s.device.Identify(); err != nil {
		return err
	}
	if id.MIG {
		s.o.Log("MIG mode of %s turns off with the next reset%s", id.UUID, s.heldBy())
		return nil
	}
	s.o.Log("turned off MIG mode of %s again", id.UUID)
	return nil
}

// monitors are services that hold a GPU to watch it. The driver does not list all of them among the processes.
const monitors = "monitoring too: systemctl stop nvidia-dcgm nvsm, and dcgm-exporter"

// heldBy says in brackets which processes use the GPU, if the driver tells any.
func (s *Session) heldBy() string {
	by, err := s.device.Processes()
	if err != nil || len(by) == 0 {
		return ""
	}
	return " (held by " + processList(by) + ")"
}

func processList(ps []profiling.Process) string {
	return strings.Join(nearest.Names(ps, func(p profiling.Process) string {
		return strings.TrimSpace(fmt.Sprintf("process %d %s", p.PID, p.Name))
	}), ", ")
}
