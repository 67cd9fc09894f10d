package inventory

import (
	"bytes"
	"errors"
	"io"
)

// lines is a file of JSON Lines. They are gathered and written whole, so that a killed
// run leaves a file that is right up to its last whole line. Whoever has it holds a
// lock.
type lines struct {
	create func() (file, error)

	file    file  // nil until the first flush
	size    int64 // of the file, up to its last whole line
	buf     bytes.Buffer
	waiting []line // in buf
}

// file is what is needed of an os.File.
type file interface {
	io.WriteCloser
	Truncate(size int64) error
}

// line is one that waits to be written.
type line struct {
	end                  int // in the buffer
	account, region, typ string
	lost                 func()
}

// add gathers a line.
func (l *lines) add(text []byte, one line) {
	l.buf.Write(text)
	one.end = l.buf.Len()
	l.waiting = append(l.waiting, one)
}

// flush writes what is gathered, in one go, and calls written with each line that is
// there then. Those that are not there are lost.
func (l *lines) flush(written func(line)) (err error) {
	n := 0
	if l.file == nil {
		l.file, err = l.create()
	}
	if err == nil {
		n, err = l.file.Write(l.buf.Bytes())
	}
	if err != nil {
		// What is there of a line that is not there wholly is taken off again.
		torn := n
		n = bytes.LastIndexByte(l.buf.Bytes()[:n], '\n') + 1
		if torn > n {
			err = errors.Join(err, l.file.Truncate(l.size+int64(n)))
		}
	}
	l.size += int64(n)
	for _, one := range l.waiting {
		if one.end <= n {
			written(one)
		} else if one.lost != nil {
			one.lost()
		}
	}
	l.buf.Reset()
	l.waiting = l.waiting[:0]
	return err
}

// close closes the file, if there is one.
func (l *lines) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
