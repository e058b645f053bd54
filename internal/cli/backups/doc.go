// Package backups is `lockstep backup`, `restore` and `resume`.
package backups
