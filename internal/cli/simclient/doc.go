// Package simclient is `lockstep client`: it plays the devices that do jobs.
package simclient
