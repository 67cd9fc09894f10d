// Package report makes report.html out of the document of a run: one file that
// loads nothing, for a browser, for mail and for an archive.
//
//	err := report.Write(dir, doc)
//
// It says first how the run ended and what is missing, then what was found, then
// which limits were met. The report is a function of the document, so it can be
// made again from run.json. It reads without scripts; the one script it carries
// filters and sorts the table of coverage. Everything in it that comes from a
// provider goes through html/template, and a policy in the page forbids whatever
// is not the page's own.
package report
