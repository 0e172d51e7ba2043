package main

import (
	"testing"

	"decodegap/roofline"
	"decodegap/roofline/model"
)

// TestDraftNote: that decode does not read the MTP layer is not said where it
// drafts.
func TestDraftNote(t *testing.T) {
	for _, draft := range []string{"", "mtp"} {
		s := &scenario{model: &model.Loaded{Decoder: &roofline.Decoder{Draft: &roofline.Decoder{}, DraftNote: "MTP layers are not read"}}}
		o := scenarioOptions{draftModel: draft, draft: 1, accepted: 1.5}
		if err := o.drafting(s); err != nil {
			t.Fatal(err)
		}
		if said := s.model.DraftNote != ""; said != (draft == "") {
			t.Errorf("--draft-model %q: said %v", draft, said)
		}
	}
}
