// Package timeline follows a governor over a run: which services were slowed
// down, when, how far, and how they recovered.
//
//	recorder := timeline.Start(governor, stats)
//	… // the run
//	line := recorder.Stop()
//
// What it costs is bounded. A sample is taken ten times a second at first and
// once a second in a long run, and less often where there is so much to look at
// that sampling would take more than a fiftieth of the time. A service where
// nothing happens is remembered by its last sample only, and one where something
// did by at most [MaxPoints] points: beyond that, neighbours are merged.
package timeline
