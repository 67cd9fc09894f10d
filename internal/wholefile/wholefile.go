// Package wholefile writes a file whole or not at all: who opens it finds the
// old one or the new one, and never a part.
package wholefile

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write makes what fill writes the file called name in dir, for those whom mode lets
// read it. After an error the directory is as it was.
func Write(dir, name string, mode fs.FileMode, fill func(io.Writer) error) error {
	path := filepath.Join(dir, name)
	temp, err := os.CreateTemp(dir, name+".*")
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(temp)
	err = fill(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = temp.Chmod(mode)
	}
	if closed := temp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name()) // the error that matters is the first
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	return nil
}
