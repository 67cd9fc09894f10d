package learned

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cloudpace/cloudpace"
)

// Options say where and how often. The zero value is fit for use.
type Options struct {
	Path  string        // of the file; empty means [DefaultPath]
	Every time.Duration // between writes; 0 means 5 s
	// Fresh begins without what is in the file, and replaces it.
	Fresh bool
	// Warn, when set, is called with what keeps the file from being read or written,
	// once for either. It may be called from another goroutine.
	Warn func(error)
}

// defaultEvery is what a killed process loses at most: about what the buckets of a busy
// scope take to fill.
const defaultEvery = 5 * time.Second

// Keeper keeps one governor's file. Its methods are safe for concurrent use.
type Keeper struct {
	governor *cloudpace.Governor
	path     string // empty where there is nothing to write to
	o        Options

	stop, stopped     chan struct{}
	closing           sync.Once
	unread, unwritten sync.Once // their warnings
}

// Keep gives g what is in the file, and writes what g learns into it until the keeper is
// closed. It never fails: see [Options.Warn]. A file of a later version is left as it is.
func Keep(g *cloudpace.Governor, o Options) *Keeper {
	k := &Keeper{governor: g, path: o.Path, o: o, stop: make(chan struct{}), stopped: make(chan struct{})}
	if k.o.Every <= 0 {
		k.o.Every = defaultEvery
	}
	var err error
	if k.path == "" {
		k.path, err = DefaultPath()
	}
	if err == nil {
		err = k.read()
	}
	if err != nil {
		k.warn(&k.unread, err)
	}
	go k.run()
	return k
}

func (k *Keeper) read() error {
	l, err := Read(k.path)
	var newer *NewerError
	switch {
	case errors.As(err, &newer):
		k.path = ""
		return err
	case k.o.Fresh:
		_, err := Forget(context.Background(), k.path, nil)
		return err
	case err != nil:
		return err
	}
	return k.governor.Restore(l)
}

func (k *Keeper) run() {
	defer close(k.stopped)
	if k.path == "" {
		return
	}
	ticker := time.NewTicker(k.o.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			k.save()
		case <-k.stop:
			k.save()
			return
		}
	}
}

func (k *Keeper) save() {
	if err := write(context.Background(), k.path, k.governor.Learned()); err != nil {
		k.warn(&k.unwritten, err)
	}
}

func (k *Keeper) warn(once *sync.Once, err error) {
	if k.o.Warn != nil {
		once.Do(func() { k.o.Warn(err) })
	}
}

// Close writes for the last time and ends the writing. It may be called more than once.
func (k *Keeper) Close() {
	k.closing.Do(func() { close(k.stop) })
	<-k.stopped
}
