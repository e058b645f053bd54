package client

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// JobQuery selects jobs that satisfy all fields: one of Groups, one of Tags, and each of the others.
type JobQuery struct {
	ClientID, State, Workflow string
	Groups, Tags              []string

	// Bounds of the times of creation and of the last change; wfx itself does not have them.
	CreatedFrom, CreatedTo, ChangedFrom, ChangedTo time.Time

	Limit      int // 0: the server's default, 10; negative: all
	Offset     int
	Descending bool // newest first
	Total      bool // also count
}

// Values are the parameters of a query as they are sent.
func (q JobQuery) Values() url.Values {
	v := url.Values{}
	set := func(name, value string) {
		if value != "" {
			v.Set(name, value)
		}
	}
	set("clientId", q.ClientID)
	set("state", q.State)
	set("workflow", q.Workflow)
	set("group", strings.Join(q.Groups, ","))
	set("tag", strings.Join(q.Tags, ","))
	for name, at := range map[string]time.Time{"stimeFrom": q.CreatedFrom, "stimeTo": q.CreatedTo, "mtimeFrom": q.ChangedFrom, "mtimeTo": q.ChangedTo} {
		if !at.IsZero() {
			v.Set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	page(v, q.Limit, q.Offset, q.Descending, q.Total)
	return v
}

func page(v url.Values, limit, offset int, descending, total bool) {
	if limit != 0 {
		v.Set("limit", strconv.Itoa(limit))
	}
	if offset != 0 {
		v.Set("offset", strconv.Itoa(offset))
	}
	if descending {
		v.Set("sort", "desc")
	}
	if total {
		v.Set("pagination", "true")
	}
}

// WorkflowQuery says which part of the workflows to list.
type WorkflowQuery struct {
	Limit      int // 0: the server's default; negative: all
	Offset     int
	Descending bool
	Total      bool
}

// Values are the parameters of a query as they are sent.
func (q WorkflowQuery) Values() url.Values {
	v := url.Values{}
	page(v, q.Limit, q.Offset, q.Descending, q.Total)
	return v
}
