package main

import (
	"fmt"

	"decodegap/reports"
	"decodegap/roofline/model"
)

// drafting loads what drafts, and says so where its cost is left out.
func (o *scenarioOptions) drafting(s *scenario) error {
	if o.draft > 0 && o.accepted == 1 {
		s.notes = append(s.notes, reports.Warning{Code: "none-accepted",
			Text: "no draft is taken to be accepted: give --accepted, the tokens emitted per sequence and step"})
	}
	if o.draftModel == "" {
		if o.draft > 0 {
			s.notes = append(s.notes, reports.Warning{Code: "draft-free",
				Text: "the draft's own cost is not counted: give --draft-model MODEL, or mtp for the checkpoint's own layer"})
		}
		return nil
	}
	if o.draft == 0 {
		return fmt.Errorf("--draft-model without --draft-tokens: say how many drafts a step verifies")
	}
	if o.draftModel == "mtp" {
		if s.draft = s.model.Draft; s.draft == nil {
			return fmt.Errorf("--draft-model mtp: %s has no MTP layer that is known", s.model.Name)
		}
		s.model.DraftNote = "" // it is read
		return nil
	}
	l, err := model.Load(o.draftModel, "", model.Options{})
	if err != nil {
		return fmt.Errorf("--draft-model: %w", err)
	}
	s.draft = l.Decoder
	s.sources = append(s.sources, l.Sources...)
	return nil
}
