// Package aws is the simulator's AWS front. It reads and answers AWS's protocols:
// EC2's, the other query services', JSON 1.0 and 1.1, REST with JSON, REST with
// XML, and RPC with CBOR.
//
// # Who is asking
//
// Signatures are not verified. The region and service are those that a request is
// signed for. The account is the twelve digits in the access key id, so
// AKIA111122223333EXAM is a key of 111122223333; a key id without twelve digits
// in a row is one of the estate's first account. AssumeRole gives keys of the
// role's account. A key of an account that the estate does not have is refused as
// AWS refuses keys that it does not know, and so is a request without a signature.
//
// # What is answered
//
// A table has one row for each operation, see [Operations]. Where a row is
// missing, Describe, Get, List and Search operations have empty answers in the
// service's protocol, and others are not implemented; a strict profile refuses
// both. Filters are not modelled and are refused.
package aws
