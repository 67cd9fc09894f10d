package sim

import (
	"encoding/binary"
	"hash/fnv"
	"io"
	"net/http"
	"strings"

	"github.com/cloudpace/cloudpace/internal/httpbody"
)

// What fronts have in common in their dealings with clients.

// Peek reads a request's body and puts it back. whole tells whether that was all of it:
// text is nil where it is longer than most, or cannot be read.
func Peek(r *http.Request, most int) (text []byte, whole bool) {
	if r.Body == nil {
		return nil, true
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, int64(most)+1))
	r.Body = httpbody.Joined(text, r.Body)
	if err != nil || len(text) > most {
		return nil, false
	}
	return text, true
}

// Shown makes what a client calls something fit to be shown and counted: the first so
// many bytes, with underscores for what is not plain.
func Shown(text string, longest int) string {
	if len(text) > longest {
		text = text[:longest]
	}
	return strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && r != '<' && r != '>' && r != '"' {
			return r
		}
		return '_'
	}, text)
}

// Salt ties the tokens of a listing to it, and to the place where it is asked for.
func Salt(e *Estate, p Place, listing string) uint64 { return e.Draw(p, listing, 0, "token") }

// Checksum is what tells a token that was made with a salt from one that was made up.
func Checksum(b []byte, salt uint64) uint64 {
	h := fnv.New64a()
	var s [8]byte
	binary.BigEndian.PutUint64(s[:], salt)
	_, _ = h.Write(s[:]) // a hash takes everything
	_, _ = h.Write(b)
	return h.Sum64()
}
