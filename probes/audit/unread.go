package audit

import "fmt"

// Unread says what the other checks could not see.
var Unread = Check{
	Name: "launch-unread",
	Doc:  "parts of the command line that only a shell or another file would know, and doubts about how it was read",
	Run: func(f *Facts) []Finding {
		l := f.Launch
		if l == nil {
			return nil
		}
		var found []Finding
		for i, p := range l.Unread {
			if i == 5 {
				found[4].Text += fmt.Sprintf(" (and %d more such places)", len(l.Unread)-5)
				break
			}
			found = append(found, Finding{Severity: Note, Where: l.where(p.Line, p.Col),
				Text:   p.Text + " is not known here: whether it sets what is not seen elsewhere in the command is left open",
				Advice: "give the arguments of the running server (/proc/PID/cmdline)"})
		}
		for _, p := range l.Warnings {
			found = append(found, Finding{Severity: Note, Where: l.where(p.Line, p.Col), Text: p.Text})
		}
		return found
	},
}
