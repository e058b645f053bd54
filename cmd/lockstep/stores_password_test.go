package main

import (
	"bytes"
	"strings"
	"testing"
)

// secrets are parts of passwords in the addresses of these tests, in every spelling.
var secrets = []string{"hunter", "%48unter", "swordfish", "sword%66ish"}

func leaks(text string) bool {
	text = strings.ToLower(text)
	for _, secret := range secrets {
		if strings.Contains(text, strings.ToLower(secret)) {
			return true
		}
	}
	return false
}

// TestNoPasswordInMessages: whatever is wrong with an address, no message repeats a password.
func TestNoPasswordInMessages(t *testing.T) {
	addresses := []string{
		"postgress://app:hunter2@h/d", "POSTGRES://app:hunter2@h/d", "postgres:app:hunter2@h/d", "postgres//app:hunter2@h/d", "pg://app:hunter2@h/d",
		"mysql://app:hunter2@h/d", "app:hunter2@h/d", "://app:hunter2@h/d", "//app:hunter2@h/d", "=hunter2", "postgress:hunter2", "sqlit:hunter2@h",
		"postgres://app:hunter2@h", "postgres://app:hunter2@/d", "postgres://app:hunter2@h:p/d", "postgres://app:hunter2/x@h/d", "postgres://app:12/hunter2@h/d",
		"postgres://app:12?hunter2@h/d", "postgres://app:12#hunter2@h/d", "postgres://app:hun%zzter2@h/d", "postgres://[hunter2/d",
		"host=h user=app password=hunter2", "host=h password='hunter2 swordfish'", "user=app;password=hunter2", "Password = hunter2",
		"sqlite:host=h password=hunter2", "sqlite://app:hunter2@h/d", "sqlite:postgres://app:hunter2@h/d", "sqlite:file:x.db?_auth_password=hunter2",
		"sqlite:app:hunter2@h/d", "app:hunter2@tcp(h:3306)/d", "host=h\tpassword=hunter2", "host=h\npassword=hunter2\nport=x",
		"postgres://app:hunter2@127.0.0.1:1/d?sslmode=bogus&password=swordfish", "postgres://app:hunter2@127.0.0.1:1/d?sslmode=require;password=swordfish",
		"postgres://app:hunter2@127.0.0.1:1/d?sslpassword=swordfish&sslkey=/none&sslcert=/none", "postgres://app:hunter2@127.0.0.1:1/d?connect_timeout=x&password=swordfish",
		"postgres://app:hunter2@127.0.0.1:1/d?hints=bogus&password=swordfish", "postgres://app:hunter2@127.0.0.1:1/d?schema=Sword-Fish&password=swordfish",
		"postgres://app:hunter2@127.0.0.1:1/d?port=x&sslpassword=swordfish", "postgres://app:hunter2@127.0.0.1:1/d?servicefile=/swordfish&service=hunter2",
		"nats://app:hunter2@h/S", "nats://app:12/hunter2@h/S", "nats://app:12?hunter2@h/S", "nats://app:hunter2/x@h/S", "nats://h/S?server=app:hunter2@h2",
		"nats://h/S?password=hunter2", "nats://h/S?user=app&password=hunter2", "nats://h/S?durable=x;password=hunter2", "nats://h/S?password-file=%zzhunter2",
		"natss://app:hunter2@h/S", "NATS://app:hunter2@h/S", "nats:app:hunter2@h", "tls://app:hunter2@h/S", "tls://hunter2@h/S",
		"http://app:hunter2@h/x", "htps://app:hunter2@h/x", "htps://h/x?token=hunter2", "https://app:12/hunter2@h/x", "https://app:hunter2/x@h", "ftp://h/x?password=hunter2",
		"https://h:99999/x?password=hunter2",
	}
	t.Chdir(t.TempDir())
	for _, address := range addresses {
		forms := [][]string{
			{"serve", "--check", "--store", address},
			{"serve", "--check", "--store", address, "-o", "json"},
			{"serve", "--check", "--store", "memory:", "--event-sink", address},
			{"serve", "--check", "--store", "memory:", "--event-source", address},
			{"doctor", "--store", address},
			{"serve", "--check", address},
			append([]string{"serve", "--check", "--store"}, strings.Fields(address)...),
			{"serve", "--check", "--storage", "postgres", "--storage-opt", address},
			{"serve", "--check", "--storage", "mysql", "--storage-opt", address},
		}
		if strings.Contains(address, "@") || strings.Contains(address, "password") { // others may be names of files
			forms = append(forms, []string{"serve", "--check", "--storage-opt", address}, []string{"serve", "--check", "--storage", "sqlite", "--storage-opt", address})
		}
		for _, args := range forms {
			var out, told bytes.Buffer
			code := lockstep(args, strings.NewReader(""), &out, &told)
			if leaks(out.String() + told.String()) {
				t.Errorf("%q: exit code %d\n%s%s", args, code, out.String(), told.String())
			}
		}
	}
}
