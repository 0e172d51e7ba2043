package model

// All lists the model families. To add one, write arch_<family>.go and name it
// here (docs/extend/model.md).
var All = []Arch{llama, mixtral, qwen3moe, deepseek}
