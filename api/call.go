package api

// Call is a function call without a result.
type Call struct {
	Instance  string `json:"instance"`
	Ticket    string `json:"ticket"`
	Function  string `json:"function"`
	Operation string `json:"operation,omitempty"`
	Node      string `json:"node,omitempty"`
	Arguments Data   `json:"arguments"`
	Attempt   int    `json:"attempt"`
	Parked    bool   `json:"parked"` // it must be answered by hand
}

// CallAnswer answers a call by hand, with exactly one of Result and Error.
type CallAnswer struct {
	Result Data       `json:"result,omitempty"`
	Error  *CallError `json:"error,omitempty"`
}

// CallError is the error of a call.
type CallError struct {
	Name   string `json:"name"`
	Code   string `json:"code,omitempty"`
	Status string `json:"status,omitempty"`
	Title  string `json:"title,omitempty"`
	Type   string `json:"type,omitempty"`
	Detail string `json:"detail,omitempty"`
	Data   Data   `json:"data,omitempty"`
}
