// Package pacegcp
package pacegcp
