package server

// writeSources tells what came of events that did not come over HTTP.
func (s *Server) writeSources(x *exposition) {
	if len(s.cfg.Sources) == 0 {
		return
	}
	x.family("lockstep_source_events_total", "counter", "Attempts to take events of a source. What failed comes again, what was refused is dropped.")
	for _, source := range s.cfg.Sources {
		f := source.Figures()
		x.sample("lockstep_source_events_total", f.Taken, "source", source.String(), "result", "taken")
		x.sample("lockstep_source_events_total", f.Refused, "source", source.String(), "result", "refused")
		x.sample("lockstep_source_events_total", f.Failed, "source", source.String(), "result", "failed")
	}
	x.family("lockstep_source_redelivered_total", "counter", "Of these, those that came before already.")
	for _, source := range s.cfg.Sources {
		x.sample("lockstep_source_redelivered_total", source.Figures().Redelivered, "source", source.String())
	}
}
