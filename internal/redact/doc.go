// Package redact keeps secrets out of what is stored and told.
//
// A [Redactor] finds the values of secrets in text and in values: the texts of a secret, of six
// bytes and more ([MinText]). Shorter ones would be found in unrelated text, and numbers and
// booleans are not found at all. [Redactor.Text] and [Redactor.Redact] replace what they find, for
// people; [Redactor.Seal] replaces it so that [Redactor.Open] can restore it, for what is stored.
// For people it finds texts also escaped, in another case, as base64 (by themselves or inside of a longer text) and as
// hexadecimal digits. A piece of a secret, or something else computed from it, is not found.
//
// A [Set] is the secrets of one definition with their redactor.
package redact
