package gcp

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// tokenLife is how long the tokens of a listing are good, from its first page on
// (google.cloud.asset.v1.ListAssetsResponse.next_page_token). For searches nothing
// is documented.
const tokenLife = 72 * time.Hour

// cursor is where a page begins. Clients get it as a token that tells them nothing.
type cursor struct {
	position
	page  int       // pages before it, empty ones too
	begun time.Time // when the first page was asked for, in whole seconds
}

// salt ties tokens to one listing.
func salt(e *sim.Estate, listing string) uint64 { return sim.Salt(e, sim.Place{}, listing) }

const cursorBytes = 8 + 4*4 + 8

// token writes a cursor with a checksum, and mixed so that counting up shows
// nowhere.
func (c cursor) token(salt uint64) string {
	var b [cursorBytes]byte
	for i, n := range []int{c.project, c.cell, c.i, c.page} {
		binary.BigEndian.PutUint32(b[8+4*i:], uint32(n)^uint32(salt>>(8*i)))
	}
	binary.BigEndian.PutUint64(b[24:], uint64(c.begun.Unix())^salt)
	binary.BigEndian.PutUint64(b[:], sim.Checksum(b[8:], salt))
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func parseCursor(token string, salt uint64) (cursor, bool) {
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(b) != cursorBytes {
		return cursor{}, false
	}
	var n [4]int
	for i := range n {
		n[i] = int(int32(binary.BigEndian.Uint32(b[8+4*i:]) ^ uint32(salt>>(8*i))))
	}
	c := cursor{
		position: position{n[0], n[1], n[2]}, page: n[3],
		begun: time.Unix(int64(binary.BigEndian.Uint64(b[24:])^salt), 0).UTC(),
	}
	return c, c.token(salt) == token && min(c.cell, c.i, c.page) >= 0 && c.project >= -1 && c.page < math.MaxInt32
}
