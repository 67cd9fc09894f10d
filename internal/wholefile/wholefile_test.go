package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// TestWrite: a later file replaces an earlier one, and one that fails half way
// leaves the earlier one and nothing else.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	for _, s := range []string{"first", "second"} {
		if err := Write(dir, "file", 0o600, text(s)); err != nil {
			t.Fatal(err)
		}
	}
	broken := errors.New("broken")
	err := Write(dir, "file", 0o600, func(w io.Writer) error {
		return errors.Join(text("half")(w), broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(got) != "second" {
		t.Errorf("the file has %q (%v), want the second text", got, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("left in the directory: %v (%v)", files, err)
	}
	if err := Write(filepath.Join(dir, "nowhere"), "file", 0o600, text("")); err == nil {
		t.Error("writing into a directory that is not there succeeded")
	}
}
