package http

import (
	"context"
	"fmt"
	nethttp "net/http"
	"net/url"
)

// Fetch gets a document under the same policy and limits as calls.
func (c *Client) Fetch(ctx context.Context, address string) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("fetch %s: only http and https URLs can be fetched", address)
	}
	u.Fragment, u.RawFragment = "", ""
	req, err := nethttp.NewRequest("GET", u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", address, err)
	}
	a, err := c.send(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", address, err)
	}
	if a.status != nethttp.StatusOK {
		return nil, fmt.Errorf("fetch %s: the answer is %d %s", address, a.status, nethttp.StatusText(a.status))
	}
	return a.body, nil
}
