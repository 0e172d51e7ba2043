package bench

// All lists every importer, in the order they are asked. Formats with the
// stricter mark come first.
var All = []Importer{
	SGLangJSONL,
	InferenceXJSON,
	VLLMJSON,
	SGLangText,
	VLLMText,
	InferenceXSummary,
}
