// Package nodetest starts the real program as a server, in processes of their own, for tests and
// measurements that are about several of them on one store.
//
// A process ends with the one that started it, whatever ends that.
package nodetest
