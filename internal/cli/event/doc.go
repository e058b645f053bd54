// Package event is `lockstep event`: send CloudEvents to a server and list those it keeps.
package event
