// Package catalogue knows functions by name, for definitions that only name them
// (`lockstep run --functions FILE`). The file is the operator's, not the author's:
//
//	functions:
//	  charge:                                   # an HTTP call
//	    http:
//	      method: POST
//	      url: https://pay.example/accounts/{{ $.account }}/charges
//	      headers: {Authorization: "Bearer ${env:PAY_TOKEN}"}
//	      body: {amount: "{{ $.amount }}"}
//	      result: "{{ $.charge }}"
//	  getPet:                                   # an operation of an OpenAPI document
//	    openapi: {document: pets.yaml, operation: getPet, authentication: {bearer: {use: petToken}}}
//	  resize:                                   # a command, where the operator allows it
//	    exec: {command: [convert, "{{ $.file }}"]}
//	  note: {builtin: log}                      # echo, fail, sleep, log
//
// {{ }} sees the arguments of the call, in result the answer's body. It never chooses
// scheme or host, and in a command it is a whole argument. ${env:NAME} and ${secret:NAME}
// are secrets: they are resolved when a call is made, never found in data, and their values
// are masked in everything that comes back. Credentials are as package auth says.
//
// Read the files in this order: read.go (the file), template.go, secret.go and header.go, then one
// file for each kind.
package catalogue
