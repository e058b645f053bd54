// Package job is `lockstep job`: create, follow and advance the jobs of a server.
package job
