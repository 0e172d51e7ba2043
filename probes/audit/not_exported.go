package audit

// NotExported finds variables that a script sets and a server never sees.
var NotExported = Check{
	Name: "env-not-exported",
	Doc:  "tuning variables assigned without export, which a server does not see",
	Run: func(f *Facts) []Finding {
		if f.Launch == nil {
			return nil
		}
		var found []Finding
		for _, v := range f.Launch.Env {
			if !v.Exported && !v.Unresolved && tuning(v.Name) {
				found = append(found, Finding{
					Severity: Low,
					Text:     v.Name + " is assigned but not exported: the server does not see it, unless the script's own environment had it already",
					Advice:   "write export " + v.Name + "=…, or put it on the server's line",
					Where:    f.Launch.at(v.setting()),
				})
			}
		}
		return found
	},
}
