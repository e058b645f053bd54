// Package convert rewrites definitions of Serverless Workflow 0.1 as 0.5, and checks
// that both do the same.
//
// The two versions disagree about data: in 0.1 what a function answers replaces the
// data, whatever it is; in 0.5 it is merged into an object. A converted definition
// therefore keeps the data of 0.1, called D here, as the only item of an array:
//
//   - a state filter `$[*].path` on [D] gives [what the path selects], and leaves [D]
//     where it selects nothing, which is the filter of 0.1;
//   - what is merged into an array replaces it, so an inject state can set the data;
//   - the conditions of a SWITCH are a filter over the one item: `$[?(@.age >= 18)]`;
//   - a foreach state over {data: [D]} appends what its function answers, be it an
//     object or not, and nothing where there is no answer: the last item is the new data.
//
// Where to read, in the order the data flows:
//
//	convert.go   what goes in and comes out, and what could not be kept
//	scope.go     the states of a workflow or branch; chain.go a state as a chain of them; path.go paths
//	state.go     the types of states; call.go calls, retry.go their retries;
//	choice.go    conditions; event.go waiting for events; branch.go parallel work
//	write.go     the definition as text, with its comments
//	generate.go  inputs, answers and events to compare with
//	run.go       a definition under virtual time
//	compare.go   both versions with the same cases; difference.go how two outcomes differ
//	save.go      a case as a scenario file
package convert
