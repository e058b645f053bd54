package dialect

import "time"

// Zone reports a text that is not a time zone.
func (r *Reader) Zone(n *Node, code string) {
	_, err := time.LoadLocation(n.Text)
	if err == nil && n.Text != "" && n.Text != "Local" {
		return
	}
	d := r.Errorf(n, code, "%q is not a time zone", n.Text).WithHint("use a name of the tz database, as in America/Los_Angeles")
	r.DidYouMean(d, n.Text, commonZones)
}

// commonZones are for suggestions only.
var commonZones = []string{
	"UTC", "America/Los_Angeles", "America/New_York", "America/Chicago", "America/Denver", "America/Sao_Paulo",
	"Europe/London", "Europe/Berlin", "Europe/Paris", "Europe/Madrid", "Europe/Rome", "Europe/Zurich", "Europe/Amsterdam",
	"Europe/Moscow", "Europe/Istanbul", "Asia/Tokyo", "Asia/Shanghai", "Asia/Singapore", "Asia/Kolkata", "Asia/Dubai",
	"Australia/Sydney", "Africa/Johannesburg", "Africa/Cairo",
}
