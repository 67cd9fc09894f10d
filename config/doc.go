// Package config reads cloudpace.yaml and the environment into a
// [cloudpace.Config].
//
//	cfg, warnings, err := config.Load("cloudpace.yaml")
//	if err != nil {
//		return err // all faults at once, each with its place, path, value and what is allowed
//	}
//	for _, w := range warnings {
//		slog.Warn("configuration", "problem", w.String())
//	}
//	err = cloudpace.Default().Configure(cfg)
//
// # Where a value comes from
//
// The first of these that has it: a setting made by the program (such as a
// flag), the environment, the file, what is built in
// ([cloudpace.DefaultConfig]). [Parse] reads a file's text alone, [Load] a file
// and the environment, [Read] all of them.
//
// # The file
//
//	ratelimit:
//	  aws:
//	    max_rps: 8              # so the burst is 16
//	    services:
//	      ec2.RunInstances: {max_rps: 1, burst: 2}
//	  github:                   # a provider of your own
//	    max_rps: 1.3
//
// testdata/cloudpace.yaml shows every key with its default and range. What is
// left out, or has nothing after its colon, keeps what is built in, with these
// rules:
//
//   - A rate set without its burst gets twice the rate as burst. A burst without
//     a rate limits nothing: account_burst needs account_max_rps, unless that is
//     built in (azure), and global_burst needs global_max_rps.
//   - min_rps left out is lowered to max_rps where it would lie above it.
//   - An entry under services replaces the built-in one as a whole, so it must
//     have max_rps; only per_operation is kept unless it is given. Where the
//     built-in entry has a lower rate for operations that change things (aws ec2),
//     that rate stays, capped at the new one.
//   - A provider that is not built in starts from [cloudpace.DefaultProvider].
//   - 0 does not mean "off". A limit is taken away with .inf.
//   - A zero under databricks.retry is the default.
//
// Numbers are decimal, seconds may have fractions. A quoted number is a text and
// so of the wrong type.
//
// # The environment
//
// CLOUDPACE_RATELIMIT__AWS__MAX_RPS=8 sets ratelimit.aws.max_rps: two
// underscores go one level down. Case does not matter, except in this: a service
// or operation that neither the file nor the built-in table names is taken as it
// is written, a service without lower-case letters in lower case. The dot
// between service and operation is two underscores too:
//
//	CLOUDPACE_RATELIMIT__AWS__SERVICES__EC2__MAX_RPS=10
//	CLOUDPACE_RATELIMIT__GCP__SERVICES__CLOUDASSET__LISTASSETS__MAX_RPS=10
//	CLOUDPACE_RATELIMIT__AWS__SERVICES__EC2__RunInstances__MAX_RPS=1
//
// A hyphen in a name is written as an underscore. An empty variable counts as
// not set. Variables that do not begin with one of the three sections and two
// underscores (CLOUDPACE_RATELIMIT__, CLOUDPACE_AWS__, CLOUDPACE_DATABRICKS__)
// are nobody's business here.
//
// # Faults
//
// A key that nobody knows is ignored with a [Warning], and so is a burst whose rate
// is not set. A value of the wrong
// type or out of range, a key written twice and more than one document are
// errors, all reported at once. Each is, or wraps, a [*cloudpace.ConfigError]
// unless the text is no YAML. With an error the Config is not usable.
//
// Input is taken for hostile: it may have at most 1 MiB, and anchors cannot
// make more than 20,000 values of it.
package config
