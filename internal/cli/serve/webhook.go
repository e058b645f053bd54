package serve

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	stdhttp "net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	eventhttp "github.com/lockstep-workflows/lockstep/internal/event/http"
)

// maxWebhooks is how many webhooks a server has ("webhooks"): each reads the feed for itself.
const maxWebhooks = 16

// webhookFlags say who hears of instances that fail or wait too long.
type webhookFlags struct {
	urls            []string
	filter, waiting string
	secret          string
}

func (w *webhookFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&w.urls, "webhook", nil, "an http or https `URL` that gets a CloudEvent for each instance that fails; repeatable")
	f.StringVar(&w.filter, "webhook-filter", "", "only for instances that this `QUERY` selects, such as \"def:order team:billing\" (see \"lockstep inst ls --help\")")
	f.StringVar(&w.waiting, "webhook-waiting", "", "also for instances that wait longer than this `AGE` without a change, such as 2h (default: never)")
	f.StringVar(&w.secret, "webhook-secret", "", "sign requests with the secret of this `name`, as Standard Webhooks does")
}

// use makes the receivers.
func (w *webhookFlags) use(client *http.Client, secret func(name string) (expr.Value, bool)) ([]lockstep.Option, error) {
	if len(w.urls) == 0 && (w.filter != "" || w.waiting != "" || w.secret != "") {
		return nil, cli.Usagef("--webhook-filter, --webhook-waiting and --webhook-secret need --webhook")
	}
	if len(w.urls) > maxWebhooks {
		return nil, cli.Usagef("there are %d webhooks; at most %d are allowed (limit webhooks)", len(w.urls), maxWebhooks)
	}
	waiting, err := useAge("webhook-waiting", w.waiting)
	if err != nil {
		return nil, err
	}
	var key func() ([]byte, error)
	if w.secret != "" {
		key = func() ([]byte, error) { return w.key(secret) }
		if _, err := key(); err != nil {
			return nil, cli.Usagef("--webhook-secret: %v", err)
		}
	}
	var out []lockstep.Option
	for _, text := range w.urls {
		target, err := operatorURL("webhook", "http or https", text)
		if err != nil {
			return nil, err
		}
		sink := eventhttp.Sink{Mode: eventhttp.ModeStructured, Post: post(client, target, key)}
		out = append(out, lockstep.Notify(lockstep.Notice{Name: webhookName(target), Send: sink.Send, Filter: w.filter, Waiting: waiting}))
	}
	return out, nil
}

// webhookName names a webhook in metrics and in the store. Its path may be a secret.
func webhookName(target *url.URL) string {
	sum := sha256.Sum256([]byte(target.String()))
	return target.Host + "-" + hex.EncodeToString(sum[:4])
}

// key is the key of signatures: the bytes of the secret, or what it encodes if it begins with whsec_.
func (w *webhookFlags) key(secret func(name string) (expr.Value, bool)) ([]byte, error) {
	v, ok := secret(w.secret)
	if !ok || v.Str() == "" {
		return nil, fmt.Errorf("there is no secret %q that is a text (see --secrets)", w.secret)
	}
	encoded, ok := strings.CutPrefix(v.Str(), "whsec_")
	if !ok {
		return []byte(v.Str()), nil
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) == 0 {
		return nil, fmt.Errorf("secret %q begins with whsec_, but the rest is not base64", w.secret)
	}
	return key, nil
}

// post sends events to a URL under the outbound policy; key, if not nil, is what signs them.
func post(client *http.Client, target *url.URL, key func() ([]byte, error)) eventhttp.Post {
	return func(ctx context.Context, h stdhttp.Header, body []byte, id string) (int, error) {
		if key != nil {
			k, err := key()
			if err != nil {
				return 0, err
			}
			sign(h, k, id, time.Now(), body)
		}
		// Secret: with a redirect to another host the headers of an event would be lost.
		a, err := client.Do(ctx, http.Request{Method: "POST", URL: target, Header: h, Body: body, Key: id, Secret: true})
		return a.Status, err
	}
}

// sign adds the headers of Standard Webhooks 1.0.
func sign(h stdhttp.Header, key []byte, id string, now time.Time, body []byte) {
	at := strconv.FormatInt(now.Unix(), 10)
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", at)
	h.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

// operatorURL reads a URL that an operator gave with a flag; of lists the kinds that the flag takes.
func operatorURL(flag, of, text string) (*url.URL, error) {
	target, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, cli.Usagef("--%s is not a URL", flag)
	case target.Scheme != "http" && target.Scheme != "https" || target.Hostname() == "":
		return nil, cli.Usagef("--%s is not an %s URL", flag, of)
	case target.User != nil || strings.Contains(target.EscapedPath(), "@"):
		return nil, cli.Usagef("--%s holds a user or password, which is not supported", flag)
	}
	if err := http.CheckPort(target); err != nil {
		return nil, cli.Usagef("--%s: %v", flag, err)
	}
	target.Fragment, target.RawFragment = "", ""
	return target, nil
}
