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
	if u.User != nil {
		return nil, fmt.Errorf("fetch %s: an address with a user name or password is refused", u.Redacted())
	}
	u.Fragment, u.RawFragment = "", ""
	req, err := nethttp.NewRequest("GET", u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", address, err)
	}
	a, err := c.send(ctx, req, 0)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", address, err)
	}
	if a.Status != nethttp.StatusOK {
		return nil, fmt.Errorf("fetch %s: the answer is %d %s", address, a.Status, nethttp.StatusText(a.Status))
	}
	return a.Body, nil
}
