// Package imports is `lockstep import`: what other systems have, into a store.
package imports
