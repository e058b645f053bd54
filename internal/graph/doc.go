// Package graph draws programs: a layered layout, and renderers for SVG,
// Mermaid, DOT, PlantUML, state-machine-cat and plain text.
//
// Read in the order of the data:
//
//	FromProgram  program.go, inside.go   states, ways between them, what is inside a state;
//	             job.go                  the same of state machines that actors advance
//	Layout       layout.go               the stages below, one after the other
//	             box.go, measure.go      how large each state is
//	             cycle.go, rank.go       which row it stands in
//	             chain.go, order.go      its place in the row, with few crossings;
//	             aside.go                those of lines at the sides of boxes count too
//	             place.go                x: Brandes and Köpf's four alignments, balanced
//	             settle.go               x again: what is linked moves together
//	             lane.go, stretch.go     lines beside boxes, and how they go up straight
//	             route.go, overhang.go   y, and where lines meet boxes
//	             straighten.go, line.go  small kinks are taken out; the lines
//	SVG, DOT …   one file each
//
// The layout is our own because the program must draw without help, in the server's page, in a
// terminal and in tests, byte for byte the same everywhere. Graphviz would be a C library or
// ten megabytes of WebAssembly, and its layouts change between versions; the layouts written in
// Go that we found have neither boxes with contents nor lines back that go around them. For
// everything else there is DOT: another program can lay out what this one writes.
//
// Everything is deterministic: the same program gives the same bytes. The effort
// is bounded by counts, never by a clock.
package graph
