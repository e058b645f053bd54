// Package wfxdb reads the database of a wfx server: workflows, and jobs with their tags and their history. It writes
// nothing, and wfx may be running: what is read is one moment of the database.
//
// wfx keeps the same tables in SQLite and PostgreSQL: workflow, job, history (what changes of jobs replaced), tag and
// tag_jobs. JSON is text or jsonb, times are text or timestamps; here all of it is read as text.
//
// Read open.go first, then jobs.go.
package wfxdb
