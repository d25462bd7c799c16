//go:build cgo

package main

/*
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
*/
import "C"

import (
	"encoding/json"
	"fmt"
	"sync"
	"unsafe"
)

// Each function returns NULL, or what went wrong, to be given to miglab_free. Handles
// are numbers: C holds no pointer to Go memory, and Go holds none to C memory once a
// function has returned. Functions may be called from any thread; those of one handle
// wait for each other.

// open vectors by handle.
var (
	registry sync.Mutex
	vectors  = map[int64]*handle{}
	last     int64
)

type handle struct {
	sync.Mutex
	*vector
}

// description is what a caller needs to allocate buffers.
type description struct {
	// Observation and Actions are the lengths of a row.
	Observation int `json:"observation"`
	Actions     int `json:"actions"`
	// Metrics names the columns of metrics.
	Metrics []string `json:"metrics"`
}

func message(err error) *C.char {
	if err == nil {
		return nil
	}
	return C.CString(err.Error())
}

// miglab_make opens count environments. options is a JSON object. description, to be
// given to miglab_free, becomes one with observation, actions and metrics.
//
//export miglab_make
func miglab_make(name, options *C.char, count C.int64_t, seed C.uint64_t, number *C.int64_t, describe **C.char) *C.char {
	v, err := newVector(C.GoString(name), C.GoString(options), int64(count), uint64(seed))
	if err != nil {
		return message(err)
	}
	text, err := json.Marshal(description{v.shape.Observation, v.shape.Actions, v.kind.metrics})
	if err != nil {
		return message(err)
	}
	registry.Lock()
	defer registry.Unlock()
	last++
	vectors[last] = &handle{vector: v}
	*number, *describe = C.int64_t(last), C.CString(string(text))
	return nil
}

// with calls f with the vector of a handle.
func with(number C.int64_t, f func(*vector) error) *C.char {
	registry.Lock()
	h := vectors[int64(number)]
	registry.Unlock()
	if h == nil {
		return message(fmt.Errorf("handle %d is not open", int64(number)))
	}
	h.Lock()
	defer h.Unlock()
	return message(f(h.vector))
}

// miglab_seed restarts the streams from which episodes are drawn: from the next
// episode on, environment i has that of a single one with seed+i.
//
//export miglab_seed
func miglab_seed(number C.int64_t, seed C.uint64_t) *C.char {
	return with(number, func(v *vector) error {
		v.seed(uint64(seed))
		return nil
	})
}

// miglab_reset begins an episode in every environment and writes observations
// [count][observation] and masks [count][actions].
//
//export miglab_reset
func miglab_reset(number C.int64_t, observations *C.float, masks *C.bool) *C.char {
	return with(number, func(v *vector) error {
		return v.reset(v.buffers(observations, masks, nil, nil, nil))
	})
}

// miglab_step carries out actions [count] and writes what miglab_reset does, of the
// next episode where one is done, and rewards [count], done [count] and metrics
// [count][metrics], NaN but where an episode is done. Where an action is not allowed,
// nothing happens in any environment.
//
//export miglab_step
func miglab_step(number C.int64_t, actions *C.int64_t, observations *C.float, masks *C.bool, rewards *C.float, done *C.bool, metrics *C.double) *C.char {
	return with(number, func(v *vector) error {
		return v.step(unsafe.Slice((*int64)(actions), len(v.envs)), v.buffers(observations, masks, rewards, done, metrics))
	})
}

// buffers takes C's memory, nil for what is not written.
func (v *vector) buffers(observations *C.float, masks *C.bool, rewards *C.float, done *C.bool, metrics *C.double) *buffers {
	n := len(v.envs)
	b := &buffers{
		observations: unsafe.Slice((*float32)(observations), n*v.shape.Observation),
		masks:        unsafe.Slice((*bool)(masks), n*v.shape.Actions),
	}
	if rewards != nil {
		b.rewards, b.done = unsafe.Slice((*float32)(rewards), n), unsafe.Slice((*bool)(done), n)
		b.metrics = unsafe.Slice((*float64)(metrics), n*len(v.kind.metrics))
	}
	return b
}

// miglab_close forgets a handle.
//
//export miglab_close
func miglab_close(number C.int64_t) *C.char {
	registry.Lock()
	defer registry.Unlock()
	if vectors[int64(number)] == nil {
		return message(fmt.Errorf("handle %d is not open", int64(number)))
	}
	delete(vectors, int64(number))
	return nil
}

// miglab_free frees a text.
//
//export miglab_free
func miglab_free(text *C.char) { C.free(unsafe.Pointer(text)) }
