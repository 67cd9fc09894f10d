package aws

import (
	"encoding/base32"
	"encoding/binary"
	"math"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// cursor is where a page begins. Clients get it as a token that tells them
// nothing.
type cursor struct {
	offset int // things before the page
	page   int // pages before it, empty ones too
}

// alphabet is one that every service allows in its tokens.
var alphabet = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// salt ties tokens to one listing of one account and region.
func (q *request) salt(e *sim.Estate) uint64 {
	return sim.Salt(e, sim.Place{Account: q.account, Region: q.region}, q.service.name+":"+q.name)
}

// token writes a cursor with a checksum, and mixed so that counting up shows
// nowhere.
func (c cursor) token(salt uint64) string {
	var b [16]byte
	binary.BigEndian.PutUint32(b[8:], uint32(c.offset)^uint32(salt))
	binary.BigEndian.PutUint32(b[12:], uint32(c.page)^uint32(salt>>32))
	binary.BigEndian.PutUint64(b[:], sim.Checksum(b[8:], salt))
	return alphabet.EncodeToString(b[:])
}

func parseCursor(token string, salt uint64) (cursor, bool) {
	token = strings.TrimSpace(token)
	b, err := alphabet.DecodeString(token)
	if err != nil || len(b) != 16 {
		return cursor{}, false
	}
	c := cursor{
		offset: int(binary.BigEndian.Uint32(b[8:]) ^ uint32(salt)),
		page:   int(binary.BigEndian.Uint32(b[12:]) ^ uint32(salt>>32)),
	}
	return c, c.token(salt) == token && c.offset <= math.MaxInt32 && c.page <= math.MaxInt32
}
