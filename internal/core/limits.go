package core

// Limits of one instance. Each has a name, which its error says.
type Limits struct {
	Fuel        int // nodes a step may run before it must be committed ("step-fuel")
	Steps       int // nodes an instance may run without waiting ("steps-without-waiting")
	StepWork    int // steps of expressions before a step must be committed ("step-work")
	OpWork      int // steps of all expressions of one node ("operation-work")
	Work        int // steps of expressions an instance may do without waiting ("work-without-waiting")
	Frames      int // frames at a time ("frames")
	FanWidth    int // items or branches of one fan ("fan-width")
	FanInFlight int // iterations of one fan at a time ("fan-in-flight")
	FanFailures int // failed items after which a fan begins no further one ("fan-failures")
	DataBytes   int // size of one frame's data when it grows ("data-bytes")
}

// DefaultLimits hold unless the host sets others.
var DefaultLimits = Limits{
	Fuel:        10_000,
	Steps:       100_000,
	StepWork:    1_000_000,
	OpWork:      10_000_000,
	Work:        200_000_000,
	Frames:      10_000,
	FanWidth:    1_000_000,
	FanInFlight: 1_000,
	FanFailures: 100,
	DataBytes:   16 << 20,
}
