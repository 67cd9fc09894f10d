// Package sharing is the law by which several processes, the members, share one token
// bucket, one circuit and one pool of slots. It knows no scopes, clocks or networks:
// every method is given the time, which is that of whoever keeps the state.
//
// A token is a moment. The bucket hands out the next moments at which a call may leave,
// a batch to each member that asks, so that a member is paced by its own timer and asks
// again only when its batch runs out. Moments that nobody took are stored, up to the
// burst. A batch reaches half a second into the future at most, divided by the members
// that want some; who has more than a quarter of a second ahead is told when to come
// again. So all get the same, a busy member asks a few times a second whatever the rate
// is, and one that dies takes no more with it than its batch.
//
// A member counts a moment from when it hears of it, which is after it was handed out,
// so that neither the network nor its clock can make it early.
//
// What members say is checked before, by Sane. Time is reckoned in whole microseconds,
// and always so that rounding hands out nothing too early and nothing twice.
package sharing
